# ruff: noqa: RUF001 (letters that look alike are the matter of this file)
import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.extract.encodings.charset import charset_of, codec_of, decode
from gossamer.extract.encodings.labels import CODECS, LABELS
from gossamer.extract.encodings.prescan import prescan

CHINESE = "北京大学图书馆的新书已经可以在网上查询，请同学们到这里来看看我们的服务时间和联系方式。"
TAIWANESE = "臺北市立圖書館的新書已經可以在網路上查詢，請同學們到這裡來看看我們的服務時間和聯絡方式。"
JAPANESE = "このページでは図書館の利用時間と新しい本のお知らせをご案内しています。"
KOREAN = "이 페이지에서는 도서관 이용 시간과 새 책에 대한 안내를 제공합니다."
RUSSIAN = "На этой странице вы найдете расписание работы библиотеки и список новых книг."
UKRAINIAN = "На цій сторінці ви знайдете розклад роботи бібліотеки та перелік нових книжок."
GREEK = "Σε αυτή τη σελίδα θα βρείτε το ωράριο της βιβλιοθήκης και τα νέα βιβλία."
HEBREW = "בעמוד זה תמצאו את שעות הפתיחה של הספרייה ואת רשימת הספרים החדשים."
ARABIC = "ستجد في هذه الصفحة ساعات عمل المكتبة وقائمة الكتب الجديدة."
THAI = "หน้านี้แสดงเวลาทำการของห้องสมุดและรายชื่อหนังสือใหม่"
FRENCH = "Cette page présente les heures d'été de la bibliothèque où les élèves se préparent à l'examen."
GERMAN = "Für Schüler geöffnet, auch während der Prüfungen; weiße Bücher über Äpfel."
POLISH = (
    "Na tej stronie znajdą Państwo godziny otwarcia biblioteki i listę nowych książek, także łódzkich źródeł."
)
CZECH = "Na této stránce najdete otevírací dobu knihovny a nejnovější přírůstky, těšíme se na vaši návštěvu."
TURKISH = "Bu sayfada kütüphanenin çalışma saatlerini ve yeni kitapların listesini bulacaksınız."


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        (CHINESE, "gbk"),
        (TAIWANESE, "big5"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (JAPANESE, "iso-2022-jp"),
        (KOREAN, "euc-kr"),
        (RUSSIAN, "windows-1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "iso-8859-5"),
        (RUSSIAN, "ibm866"),
        (UKRAINIAN, "windows-1251"),
        (GREEK, "windows-1253"),
        (HEBREW, "windows-1255"),
        (ARABIC, "windows-1256"),
        (THAI, "windows-874"),
        (FRENCH, "windows-1252"),
        (GERMAN, "windows-1252"),
        (POLISH, "windows-1250"),
        (POLISH, "iso-8859-2"),
        (CZECH, "windows-1250"),
        (TURKISH, "windows-1254"),
        (CHINESE, "utf-8"),
    ],
)
def test_undeclared_text_is_recognised(text: str, charset: str) -> None:
    page = f"<html><body><p class=a>{text}</p><script>var a = 1;</script></body></html>".encode(
        codec_of(charset)
    )
    assert decode(page, charset_of(page, "text/html", "text/html")) == decode(page, charset)
    # Bare words without markup, as in a menu.
    short = " ".join(text.split()[:4]) if " " in text else text[:16]
    if charset not in ("iso-8859-2", "windows-1250", "windows-1254", "windows-1252"):
        content = short.encode(codec_of(charset))
        domain = {"big5": "tw", "shift_jis": "jp", "euc-kr": "kr"}.get(charset, "")
        assert decode(content, charset_of(content, "", "text/plain", domain)) == decode(content, charset)


@pytest.mark.parametrize(
    "text",
    [
        "<html><title>x</title><body><p>Some English text here © and more text</p></body></html>",
        "El niño comió mañana en España",
        "<p>Open <a href='/café/'>the café</a> for 100 £</p>",
        "<p>de geïnstalleerde pakketten</p>",
    ],
)
def test_a_few_western_letters_are_western(text: str) -> None:
    content = text.encode("cp1252")
    assert decode(content, charset_of(content, "", "text/html")) == text
    assert decode(content, charset_of(content, "", "text/html", "127.0.0.1")) == text


@pytest.mark.parametrize("domain", ["de", "DE", "", "1", "[::1]", "xn--p1ai", "a" * 70, "localhost", "ru."])
def test_any_domain_is_a_hint(domain: str) -> None:
    content = RUSSIAN.encode("cp1251")
    assert decode(content, charset_of(content, "", "text/html", domain)) == RUSSIAN


def test_the_domain_decides_where_the_text_does_not() -> None:
    content = "<p>żółw</p>".encode("cp1250")
    assert decode(content, charset_of(content, "", "text/html", "pl")) == "<p>żółw</p>"
    content = "<p>smørrebrød</p>".encode("cp1252")
    assert decode(content, charset_of(content, "", "text/html", "dk")) == "<p>smørrebrød</p>"


def test_utf_8_with_a_broken_letter_is_utf_8() -> None:
    content = CHINESE.encode() + b"\xe5\x8c" + b" - " + CHINESE.encode()
    assert charset_of(content, "", "text/html") == "utf-8"
    assert charset_of(FRENCH.encode() * 5 + b"\xe9", "", "text/html") == "utf-8"
    assert charset_of(FRENCH.encode("cp1252"), "", "text/html") == "windows-1252"


@pytest.mark.parametrize(
    ("content", "header", "expected"),
    [
        (b"\xef\xbb\xbf<meta charset=gbk>", "text/html; charset=koi8-r", "utf-8"),
        (b"\xff\xfe<\0", "text/html; charset=koi8-r", "utf-16le"),
        (b"\xfe\xff\0<", "", "utf-16be"),
        (b"<meta charset=gbk>", "text/html; charset=koi8-r", "koi8-r"),
        (b"<meta charset=gbk>", 'text/html; charset="KOI8-R"', "koi8-r"),
        (b"<meta charset=gbk>", "text/html;charset=iso-8859-1", "windows-1252"),
        (b"<meta charset=gbk>", "text/html; charset=nonsense", "gbk"),
        (b"<meta charset=gb2312>", "text/html", "gbk"),
        (b'<?xml version="1.0" encoding="koi8-r"?><html>', "text/html", "koi8-r"),
        (b"<html>plain ASCII", "text/html", "utf-8"),
        ("é".encode() + b"\xc3", "text/html", "utf-8"),
    ],
)
def test_order_of_witnesses(content: bytes, header: str, expected: str) -> None:
    assert charset_of(content, header, "text/html") == expected


@pytest.mark.parametrize(
    ("late", "expected"),
    [
        (b"<meta charset=iso-8859-7>", "iso-8859-7"),
        (b"<META HTTP-EQUIV=content-type CONTENT='text/html; charset=iso-8859-7'>", "iso-8859-7"),
        (b"<meta charset=nonsense><body><meta charset=koi8-u>", "koi8-u"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<script>w('<meta charset=koi8-u>')</script>", "windows-1252"),
        (b"<!-- <meta charset=koi8-u> -->", "windows-1252"),
        (b"<p title='<meta charset=koi8-u>'>", "windows-1252"),
        (b" " * 70_000 + b"<meta charset=koi8-u>", "windows-1252"),
    ],
)
def test_a_declaration_behind_the_first_kilobyte_counts_before_a_guess(late: bytes, expected: str) -> None:
    page = b"<html><head><script>" + b"/**/" * 300 + b"</script>" + late + FRENCH.encode("cp1252")
    assert charset_of(page, "text/html", "text/html") == expected
    early = b"<meta charset=big5>" + page
    assert charset_of(early, "text/html", "text/html") == "big5"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (b"<meta charset=utf-8>", "utf-8"),
        ("<?xml version='1.0'?>".encode("utf-16le"), "utf-16le"),
        ("<?xml version='1.0'?>".encode("utf-16be"), "utf-16be"),
        (b"<META CHARSET='Shift_JIS'>", "shift_jis"),
        (b'<meta\tcharset = "big5" />', "big5"),
        (b"<meta/charset=big5>", "big5"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=nonsense><meta charset=gbk>", "gbk"),
        (b'<meta http-equiv=Content-Type content="text/html; charset=euc-kr">', "euc-kr"),
        (b'<meta content="text/html; charset=euc-kr" http-equiv=content-type>', "euc-kr"),
        (b'<meta content="text/html; charset=euc-kr">', ""),
        (b"<meta http-equiv=content-type content=\"charset='gbk'; x\">", "gbk"),
        (b"<!-- <meta charset=gbk> --><meta charset=big5>", "big5"),
        (b"<!-- <meta charset=gbk>", ""),
        (b"<!--><meta charset=gbk>", "gbk"),
        (b"<p title='<meta charset=gbk>'><meta charset=big5>", "big5"),
        (b"<?php <meta charset=gbk><meta charset=big5>", "big5"),
        (b"</p title='<meta charset=gbk>'><meta charset=big5>", "big5"),
        (b"<metax charset=gbk>", ""),
        (b"<meta charset=gbk charset=big5>", "gbk"),
        (b"<title><meta charset=gbk></title>", "gbk"),
        (b" " * 1010 + b"<meta charset=gbk>", ""),
        (b"<meta charset=", ""),
        (b"<meta charset='gbk", ""),
        (b"<" * 1024, ""),
    ],
)
def test_prescan(markup: bytes, expected: str) -> None:
    assert prescan(markup) == expected


@given(st.binary(max_size=1100), st.sampled_from(["text/html", "text/xml", "text/css", "text/plain"]))
def test_any_bytes_have_a_charset_and_a_text(content: bytes, media_type: str) -> None:
    charset = charset_of(content, "", media_type)
    assert charset in CODECS
    assert isinstance(decode(content, charset), str)


@given(st.binary(max_size=100), st.sampled_from(sorted(CODECS)))
def test_decoding_never_raises(content: bytes, charset: str) -> None:
    decode(content, charset).encode("utf-8", "strict" if charset != "x-user-defined" else "surrogatepass")


def test_every_label_has_a_codec() -> None:
    for name in LABELS.values():
        codecs.lookup(CODECS[name])


def test_long_text_is_decoded_in_pieces_like_short() -> None:
    text = CHINESE * 8000
    assert decode(text.encode("gb18030"), "gbk") == text
    assert decode(codecs.BOM_UTF8 + text.encode(), "utf-8") == text
    assert decode(b"\xff" * (1 << 19), "utf-8") == "\ufffd" * (1 << 19)


def test_user_defined_bytes_are_private_use() -> None:
    assert decode(b"a\x80\xff", "x-user-defined") == "a\uf780\uf7ff"


def test_css_declares_itself() -> None:
    assert charset_of(b'@charset "big5";\xa4\xa4', "text/css", "text/css") == "big5"
