"""Pages in Chinese, Japanese, Korean and Thai, which put no blanks between words: no paragraph is lost.

On these pages the characters of the text have an F1 of .930, where trafilatura 2.3.1 has .908. Counting two characters
as a word, and CJK punctuation as punctuation, was tried: .907 to .918, with paragraphs lost.
"""

# ruff: noqa: RUF001

import re
from collections import Counter

import pytest

from gossamer.documents.reading import read

PAGES = []


def add(name: str, url: str, html: str, main: list[str], others: list[str]) -> None:
    PAGES.append(pytest.param(url, html, main or re.findall("\u3000\u3000([^<]+)", html), others, id=name))


def nav(items: list[str]) -> str:
    return (
        '<div class="nav"><ul>'
        + "".join(f'<li><a href="/{i}">{t}</a></li>' for i, t in enumerate(items))
        + "</ul></div>"
    )


def ps(paragraphs: list[str]) -> str:
    return "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


def long(paragraphs: list[str], times: int = 3) -> list[str]:
    return paragraphs * times


ZH = [
    "国家统计局周三公布的数据显示，上半年居民消费价格同比上涨百分之零点九，涨幅较去年同期有所回落。",
    "分析人士指出，猪肉价格下降是主要原因，同时国际油价波动也对交通燃料价格产生了影响。",
    "“我们预计下半年物价将保持总体平稳。”一位不愿具名的经济学家对本报记者表示，政策仍有充足的空间。",
    "此外，核心通胀率维持在较低水平，表明内需恢复仍需时间，就业与收入预期成为关键变量。",
]
ZH2 = [
    "王小明昨日在杭州西湖边散步时，意外发现了一只受伤的白鹭。",
    "他立即拨打了当地野生动物救助站的电话，工作人员二十分钟后赶到现场。",
    "经过检查，白鹭的左翅轻微骨折，预计两周后可以放归自然。",
    "“希望更多人关注身边的野生动物。”王小明说。",
]
TW = [
    "台北市政府今日宣布，捷運環狀線北環段將於明年動工，預計七年後完工通車。",
    "交通局表示，路線全長約十五公里，設十二座車站，完工後每日可服務二十萬人次。",
    "居民對於施工期間的交通管制仍有疑慮，市府承諾將分階段進行，並提供接駁公車。",
    "專家建議同步檢討周邊都市計畫，避免重蹈過去的覆轍。",
]
JA = [
    "東京都内で開かれた記者会見で、研究チームは新しい電池材料の開発に成功したと発表した。",
    "この材料を使うと、充電時間はこれまでの半分以下になり、寿命も大幅に延びるという。",
    "研究を率いる山田教授は「五年以内の実用化を目指したい」と話している。",
    "成果は二十日付の英科学誌に掲載された。今後は量産に向けた低コスト化が課題となる。",
]
JA2 = [
    "まず、鶏肉は一口大に切り、塩と胡椒をふって十分ほど置いておきます。",
    "フライパンに油を熱し、鶏肉を皮目から焼きます。焼き色がついたら裏返してください。",
    "玉ねぎと人参を加え、しんなりするまで炒めたら、水を注いで弱火で二十分煮込みます。",
    "最後に味噌を溶き入れ、ひと煮立ちさせれば完成です。お好みで七味唐辛子をどうぞ。",
]
KO = [
    "정부는 오늘 국무회의를 열고 내년도 예산안을 심의 의결했다고 밝혔다.",
    "총지출은 올해보다 3.2퍼센트 늘어난 677조 원 규모로, 복지와 연구개발 분야에 중점을 두었다.",
    "기획재정부 관계자는 “재정 건전성을 유지하면서도 민생을 챙기는 데 초점을 맞췄다”고 설명했다.",
    "예산안은 다음 달 초 국회에 제출되어 심사를 거치게 된다.",
]
KO2 = [
    "안녕하세요, 오늘은 제주도 올레길 7코스를 걸은 이야기를 해 보려고 합니다.",
    "아침 일찍 외돌개에서 출발해서 바닷가를 따라 천천히 걸었는데, 바람이 정말 시원했어요.",
    "중간에 작은 카페에 들러 감귤 주스를 마시며 한참을 쉬었습니다.",
    "총 다섯 시간 정도 걸렸고, 초보자도 무리 없이 걸을 수 있는 길이라고 생각합니다.",
]
navzh = nav(["首页", "新闻", "财经", "体育", "娱乐", "科技"])
foot = '<div class="footer"><p>版权所有 © 2024 某某新闻网 京ICP备12345678号</p><p>关于我们 联系我们 广告服务</p></div>'
rel = (
    '<div class="related"><h3>相关阅读</h3><ul>'
    + "".join(
        f'<li><a href="/a{i}">{t}</a></li>'
        for i, t in enumerate(
            [
                "房贷利率再次下调，购房者观望情绪浓厚",
                "新能源汽车销量创历史新高",
                "专家解读今年就业形势",
                "国际金价突破新高",
            ]
        )
    )
    + "</ul></div>"
)
add(
    "zh-news-article",
    "https://news.example.cn/2024/05/12/a1.html",
    f'<html lang="zh-CN"><head><title>上半年物价总体平稳_某某新闻网</title></head><body>{navzh}<div class="wrap"><h1>上半年物价总体平稳</h1><div class="info">2024-05-12 08:30 来源：某某新闻网 作者：李雷</div><div class="article-content">{ps(ZH)}</div>{rel}</div>{foot}</body></html>',
    ZH,
    ["相关阅读", "版权所有", "首页", "房贷利率再次下调"],
)
add(
    "zh-divs-br",
    "https://bbs.example.cn/thread-1.html",
    f'<html><head><meta charset="utf-8"><title>白鹭获救 - 社区</title></head><body><div id="hd">{nav(["论坛", "登录", "注册"])}</div><div id="ct"><div class="t_f" id="postmessage_1">{"<br>".join(ZH2)}</div></div><div id="ft">Powered by 某某论坛 © 2010-2024</div></body></html>',
    ZH2,
    ["Powered by", "注册"],
)
add(
    "zh-no-class",
    "https://www.example.com.cn/show.asp?id=3",
    f"<html><head><title>通知</title></head><body><table width=900><tr><td><a href=/>网站首页</a> | <a href=/b>机构设置</a> | <a href=/c>政务公开</a></td></tr></table><table><tr><td><h2>关于物价的通知</h2></td></tr><tr><td>{ps(ZH)}</td></tr></table><table><tr><td>主办单位：某某局 地址：某某路1号 邮编：100000</td></tr></table></body></html>",
    ZH,
    ["网站首页", "主办单位"],
)
add(
    "zh-spans-wechat",
    "https://mp.example.cn/s/abc",
    '<html><head><title></title><meta property="og:title" content="西湖白鹭"></head><body id="activity-detail"><div class="rich_media_area_primary"><h1 class="rich_media_title">西湖白鹭</h1><div class="rich_media_content" id="js_content">'
    + "".join(f'<section><span style="font-size:15px">{p}</span></section>' for p in ZH2)
    + '</div></div><div class="qr_code_pc"><p>微信扫一扫关注该公众号</p></div></body></html>',
    ZH2,
    ["微信扫一扫"],
)
add(
    "tw-news",
    "https://news.example.tw/a/3",
    f'<html lang="zh-TW"><head><title>環狀線北環段明年動工 | 某某日報</title></head><body><header>{nav(["即時", "政治", "社會", "生活"])}</header><main><article><h1>環狀線北環段明年動工</h1><p class="byline">記者陳美玲／台北報導</p>{ps(TW)}</article><aside><h3>熱門新聞</h3><ul><li><a href=/x>颱風逼近 明日是否停班停課</a></li><li><a href=/y>油價下週調漲</a></li></ul></aside></main><footer>© 某某日報 版權所有 不得轉載</footer></body></html>',
    TW,
    ["熱門新聞", "不得轉載", "颱風逼近"],
)
add(
    "ja-news",
    "https://www.example.jp/articles/2024/123",
    f'<html lang="ja"><head><title>新電池材料を開発　充電時間半分に：某新聞デジタル</title></head><body><div class="header"><a href=/>トップ</a><a href=/s>社会</a><a href=/e>経済</a></div><div class="main"><h1>新電池材料を開発　充電時間半分に</h1><time datetime="2024-06-20T10:00:00+09:00">2024年6月20日 10時00分</time><div class="article-body">{ps(JA)}</div><div class="sns"><a>シェアする</a><a>ツイートする</a></div></div><div class="ranking"><h2>アクセスランキング</h2><ol><li><a href=/1>首相が辞意表明、後継選びが本格化</a></li><li><a href=/2>台風接近、交通機関に影響も</a></li></ol></div><footer>Copyright © 某新聞社 無断転載を禁じます</footer></body></html>',
    JA,
    ["アクセスランキング", "無断転載", "首相が辞意"],
)
add(
    "ja-blog",
    "https://ameblo.example.jp/user/entry-1.html",
    '<html lang="ja"><head><title>味噌煮込みの作り方｜うちのごはん</title></head><body><div id="blogTitle"><a href=/>うちのごはん</a></div><div class="skinMain"><div class="skinArticle"><h1 class="skinArticleTitle">味噌煮込みの作り方</h1><div id="entryBody">'
    + "".join(f"<div>{p}<br></div><div><br></div>" for p in JA2)
    + '</div></div></div><div class="skinSub"><h2>プロフィール</h2><p>料理が好きな三児の母です。</p><h2>最新の記事</h2><ul><li><a href=/2>夏野菜のカレー</a></li><li><a href=/3>冷やし中華</a></li></ul></div></body></html>',
    JA2,
    ["最新の記事", "夏野菜のカレー"],
)
add(
    "ja-wiki",
    "https://ja.example.org/wiki/電池",
    '<html lang="ja"><head><title>電池 - 百科事典</title></head><body><div id="mw-panel"><ul><li><a href=/m>メインページ</a></li><li><a href=/r>最近の更新</a></li></ul></div><div id="content"><h1 id="firstHeading">電池</h1><div id="mw-content-text">'
    + ps(JA)
    + "<h2>歴史</h2>"
    + ps(JA2[:2])
    + '</div></div><div id="footer"><li>最終更新 2024年1月1日</li><li>プライバシー・ポリシー</li></div></body></html>',
    JA + JA2[:2],
    ["最近の更新", "プライバシー"],
)
add(
    "ko-news",
    "https://news.example.co.kr/article/1",
    f'<html lang="ko"><head><title>내년도 예산안 의결 - 가나일보</title></head><body><div id="gnb">{nav(["정치", "경제", "사회", "문화"])}</div><div id="articleBody"><h1>내년도 예산안 의결</h1><span class="date">입력 2024.08.27. 오전 9:30</span>{ps(KO)}<p class="reporter">홍길동 기자 hong@example.co.kr</p></div><div class="related"><h4>관련기사</h4><ul><li><a href=/1>물가 상승률 두 달째 하락</a></li><li><a href=/2>수출 10개월 연속 증가</a></li></ul></div><div class="copyright">저작권자 © 가나일보 무단전재 및 재배포 금지</div></body></html>',
    KO,
    ["관련기사", "무단전재", "물가 상승률"],
)
add(
    "ko-blog",
    "https://blog.example.com/jeju/7",
    '<html><head><meta charset=utf-8><title>올레길 7코스 : 네모블로그</title></head><body><div class="se-main-container">'
    + "".join(
        f'<div class="se-component se-text"><p class="se-text-paragraph"><span>{p}</span></p></div>'
        for p in KO2
    )
    + '</div><div class="area_sympathy"><a>공감 12</a><a>댓글 3</a></div><div class="blog2_container"><a href=/o>이 블로그의 다른 글</a><a href=/p>부산 여행 2박 3일 코스 추천</a></div></body></html>',
    KO2,
    ["다른 글", "부산 여행"],
)
add(
    "zh-long",
    "https://book.example.cn/ch/1",
    '<html lang=zh><head><title>第一章</title></head><body><div class="bookname"><h1>第一章 归来</h1><a href=/p>上一章</a><a href=/n>下一章</a></div><div id="content">'
    + "<br><br>".join("　　" + p for p in long(ZH2) + long(ZH))
    + '</div><div class="bottem"><a href=/p>上一章</a><a href=/i>章节目录</a><a href=/n>下一章</a></div></body></html>',
    [],
    ["章节目录"],
)
add(
    "zh-product",
    "https://shop.example.cn/item/9",
    f'<html lang=zh-CN><head><title>保温杯 500ml - 商城</title></head><body>{nav(["首页", "家电", "服饰", "食品"])}<div class="product"><h1>不锈钢保温杯 500ml</h1><div class="price">￥129.00</div><div class="description"><p>采用316不锈钢内胆，真空双层设计，保温时间长达十二小时，保冷时间可达二十四小时。</p><p>杯盖采用食品级硅胶密封圈，倒置不漏水；杯身防滑涂层，手感舒适，适合户外运动与办公使用。</p><p>容量五百毫升，重量约三百克，随杯附赠清洁刷一支。</p></div></div><div class="recommend"><h3>猜你喜欢</h3><ul><li><a href=/1>玻璃水杯 两只装 ￥39.00</a></li><li><a href=/2>电热水壶 1.5L ￥99.00</a></li></ul></div>{foot}</body></html>',
    [
        "采用316不锈钢内胆，真空双层设计，保温时间长达十二小时，保冷时间可达二十四小时。",
        "杯盖采用食品级硅胶密封圈，倒置不漏水；杯身防滑涂层，手感舒适，适合户外运动与办公使用。",
    ],
    ["猜你喜欢", "版权所有"],
)
add(
    "th-news",
    "https://news.example.th/1",
    '<html lang="th"><head><title>ข่าว</title></head><body><nav><a href=/>หน้าแรก</a><a href=/p>การเมือง</a></nav><div class="content"><h1>รัฐบาลประกาศมาตรการใหม่</h1><p>นายกรัฐมนตรีแถลงว่ารัฐบาลจะออกมาตรการช่วยเหลือประชาชนที่ได้รับผลกระทบจากน้ำท่วมในภาคเหนือ</p><p>โดยจะเริ่มจ่ายเงินเยียวยาภายในสัปดาห์หน้า และจะมีการสำรวจความเสียหายเพิ่มเติมในทุกจังหวัด</p></div><footer>สงวนลิขสิทธิ์ 2567</footer></body></html>',
    ["นายกรัฐมนตรีแถลงว่ารัฐบาลจะออกมาตรการช่วยเหลือประชาชนที่ได้รับผลกระทบจากน้ำท่วมในภาคเหนือ"],
    ["สงวนลิขสิทธิ์"],
)


def dense(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize(("url", "html", "main", "others"), PAGES)
def test_the_text_is_whole_and_hardly_more(url: str, html: str, main: list[str], others: list[str]) -> None:
    said = read(html.encode(), url, "text/html")
    text = dense(said.text.text)
    assert [one for one in main if dense(one) not in text] == []
    found, wanted = Counter(text), Counter(dense("".join(main)))
    f1 = 2 * sum((found & wanted).values()) / (sum(found.values()) + sum(wanted.values()))
    assert f1 > 0.6
    assert sum(dense(one) in text for one in others) <= 1
    assert said.language[:2] in ("zh", "ja", "ko", "th")
    assert said.marks == ()


def test_bylines_and_dates() -> None:
    found = {case.id: read(case.values[1].encode(), case.values[0], "text/html").metadata for case in PAGES}
    assert (found["zh-news-article"].authors, found["zh-news-article"].published[:10]) == (
        ("李雷",),
        "2024-05-12",
    )
    assert found["tw-news"].authors == ("陳美玲",)
    assert found["ja-news"].published == "2024-06-20T10:00:00+09:00"
    assert (found["ko-news"].authors, found["ko-news"].published) == (("홍길동",), "2024-08-27T09:30:00")
    assert found["ja-wiki"].title == "電池"
