"""Meaningless text in many languages, made once for each and cut to size for every page."""

# ruff: noqa: RUF001 (letters of other scripts are the point)

from functools import lru_cache
from typing import NamedTuple

from gossamer.simweb.world.dice import Dice

_POOL = 128
_PARAGRAPH = 90  # words

_WORDS = {
    "en": "silk web thread spider morning dew meadow light wind grass garden river stone bridge house "
    "window road hill forest bird letter book story number music winter summer island harbour "
    "market village of the and with under between a an in to from every some over",
    "fr": "fil toile araignée matin rosée pré lumière vent herbe jardin rivière pierre pont maison "
    "fenêtre forêt oiseau lettre livre été hiver île marché village où là ça déjà après être "
    "élève",
    "ru": "нить паук утро роса луг свет ветер трава сад река камень мост дом окно дорога холм лес "
    "птица письмо книга рассказ число музыка зима лето остров рынок деревня и с под между "
    "каждый из",
    "zh-hans": "蛛丝 早晨 露水 草地 光线 微风 花园 河流 石头 桥梁 房屋 窗户 道路 山丘 森林 飞鸟 书信 图书 "
    "故事 数字 音乐 冬天 夏天 岛屿 港口 市场 村庄 我们 他们 这里 那里 时间 国家 学习",
    "zh-hant": "蛛絲 早晨 露水 草地 光線 微風 花園 河流 石頭 橋樑 房屋 窗戶 道路 山丘 森林 飛鳥 書信 圖書 "
    "故事 數字 音樂 冬天 夏天 島嶼 港口 市場 村莊 我們 他們 這裡 那裡 時間 國家 學習",
    "ja": "蜘蛛の糸 朝露 草原 光 風 庭園 川 石 橋 家 窓 道路 丘 森林 鳥 手紙 本 物語 数字 音楽 冬 夏 "
    "島 港 市場 村 です ます そして しかし これは それは テスト ページ ソフトウェア 表示 能力",
    "ko": "거미줄 아침 이슬 초원 빛 바람 정원 강 돌 다리 집 창문 도로 언덕 숲 새 편지 책 이야기 숫자 "
    "음악 겨울 여름 섬 항구 시장 마을 그리고 그러나 우리 여기 저기 시간",
}


class Charset(NamedTuple):
    """How pages in an encoding are written: WHATWG label, Python codec, language, byte-order mark."""

    label: str
    codec: str
    language: str
    mark: bytes = b""


_CHARSETS = {
    "utf-8": Charset("utf-8", "utf-8", "en", b"\xef\xbb\xbf"),
    "gb2312": Charset("gb2312", "gb2312", "zh-hans"),
    "gbk": Charset("gbk", "gbk", "zh-hans"),
    "gb18030": Charset("gb18030", "gb18030", "zh-hans"),
    "big5": Charset("big5", "big5", "zh-hant"),
    "shift_jis": Charset("shift_jis", "shift_jis", "ja"),
    "euc-jp": Charset("euc-jp", "euc_jp", "ja"),
    "iso-2022-jp": Charset("iso-2022-jp", "iso2022_jp", "ja"),
    "euc-kr": Charset("euc-kr", "euc_kr", "ko"),
    "windows-1251": Charset("windows-1251", "cp1251", "ru"),
    "koi8-r": Charset("koi8-r", "koi8_r", "ru"),
    "windows-1252": Charset("iso-8859-1", "cp1252", "fr"),
    "utf-16le": Charset("utf-16le", "utf_16_le", "ru", b"\xff\xfe"),
    "utf-16be": Charset("utf-16be", "utf_16_be", "ja", b"\xfe\xff"),
}


def charset(name: str) -> Charset:
    """What there is to know of one of `CHARSETS`."""
    return _CHARSETS[name]


def title(language: str, dice: Dice) -> str:
    """Three words of a language."""
    words = _words(language)
    return " ".join((dice.pick(words), dice.pick(words), dice.pick(words)))


@lru_cache(maxsize=32)
def paragraphs(language: str, seed: int) -> tuple[tuple[str, ...], int]:
    """A pool of paragraphs without markup, with their mean length; cutting pages from it is cheap."""
    words = _words(language)
    dice = Dice(seed, "prose", language)
    pool = tuple(" ".join(dice.pick(words) for _ in range(dice.near(_PARAGRAPH))) for _ in range(_POOL))
    return pool, sum(map(len, pool)) // _POOL


@lru_cache(maxsize=16)
def _words(language: str) -> tuple[str, ...]:
    return tuple(_WORDS[language].split())
