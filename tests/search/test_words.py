"""Words are found in the forms in which people write them, in whatever script."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_tables import Page, found, indexed

from gossamer.search.query.asked import All
from gossamer.search.symbols import without_symbols
from gossamer.search.text.words import STEMMERS, of_document, sequences, stem_of, stems_of, ways_of

pytest.importorskip("tantivy", reason="the extra `search` is not installed")

ZH = "我们公司在2026年发布了年度报告书，介绍了新产品的研究成果。"
JA = "今日の東京タワーの天気は晴れです。図書館で本を読みました。ｺﾝﾋﾟｭｰﾀ"
KO = "우리는 오늘 새로운 보고서를 발표했습니다. 도서관에서 책을 읽었습니다."


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory):
    return indexed(
        tmp_path_factory.mktemp("crawl"),
        [
            Page("zh", ZH, language="zh"),
            Page("ja", JA, language="ja"),
            Page("ko", KO, language="ko"),
            Page("mixed", "Our report 年度报告 for Tokyo 東京 was published by 株式会社Example in 2026", language="en"),
            Page("en", "The quick brown foxes were running. A résumé of C++ and node.js in foo_bar.", language="en"),
            Page("de", "Die Häuser in der Straße waren größer als gedacht; Übungen macht der Meister.", language="de"),
            Page("fr", "Les chevaux couraient; été, naïveté et cœur.", language="fr"),
            Page("ru", "Быстрые лисы бегали по лесу, ёлки стояли.", language="ru"),
            Page("hi", "नमस्ते दुनिया, यह हिन्दी में है।", language="hi"),
            Page("th", "สวัสดีครับ ภาษาไทยไม่มีช่องว่าง", language="th"),
            Page("ar", "مُحَمَّد يقرأ الكتاب في المكتبة", language="ar"),
            Page("el", "Η γρήγορη αλεπού και οι άνθρωποι", language="el"),
            Page("tr", "İzmir ve DİYARBAKIR güzel şehirlerdir.", language="tr"),
            Page("he", "הַסֵּפֶר נמצא בספרייה.", language="he"),
            Page("stress", "За\u0301мок и ще\u0301дрость.", language="ru"),
            Page("capitals", "ΛΌΓΟΣ; Ёлочка.", language=""),
            Page("none", "unbekannte Sprachen running foxes", language=""),
            Page("scripts", " ".join(f"x{chr(point)}y" for point in range(0x21, 0x2FFFF, 97) if not 0xD800 <= point < 0xE000)),
            Page("long", "w" * 5_000_000 + " needle " + "漢" * 100_000 + " pin"),
            Page("empty"),
        ],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "url"),
    [
        # Six words inside sentences, none of which a tokeniser that cuts at blanks finds.
        ("报告", "zh"), ("研究", "zh"), ("天気", "ja"), ("図書館", "ja"), ("보고서", "ko"), ("도서관", "ko"),
        ("年度报告书", "zh"), ("2026年", "zh"), ("介绍了新产品的研究成果", "zh"), ("书", "zh"), ("晴", "ja"),
        ("コンピュータ", "ja"), ("報告 OR 보고", "ko"), ('"東京タワー"', "ja"),
        ("東京 report", "mixed"), ("株式会社example", "mixed"), ('"报告 for tokyo"', "mixed"),
        ("fox", "en"), ("RUNS", "en"), ("resume", "en"), ("résumés", "en"), ("c++", "en"), ("node.js", "en"),
        ("foo_bar", "en"), ('"quick brown fox"', "en"), ("run*", "en"),
        ("haus", "de"), ("strasse", "de"), ("Straße", "de"), ("uebung OR ubung", "de"), ("größe", "de"),
        ("cheval OR chevaux", "fr"), ("naivete", "fr"), ("ete", "fr"),
        ("лиса", "ru"), ("елки", "ru"), ("दुनिया", "hi"), ("हिन्दी", "hi"), ("ภาษาไทย", "th"), ("ช่องว่าง", "th"),
        ("محمد", "ar"), ("كتاب", "ar"), ("ανθρωποι", "el"),
        ("izmir", "tr"), ("İZMİR", "tr"), ("diyarbakır", "tr"), ("הספר", "he"), ("замок", "stress"), ("щедрости", "stress"),
        ("λογος", "capitals"), ("λόγος", "capitals"), ("елочка", "capitals"),
        ("unbekannte", "none"), ("foxes", "none"),
        ("needle", "long"), ("漢漢漢", "long"), ("pin", "long"),
    ],
)  # fmt: skip
def test_a_word_is_found(pages, query: str, url: str) -> None:
    assert url in found(pages, query)


@pytest.mark.parametrize("query", ["告报", "京東", "도관서", '"brown quick"', "fox -foxes", "runningfoxes"])
def test_what_is_not_there_is_not_found(pages, query: str) -> None:
    assert found(pages, query) == []


def test_the_commonest_words_are_asked_for_only_where_they_are_kept(tmp_path: Path) -> None:
    pages = indexed(
        tmp_path,
        [
            Page("who", "a band from London", title="The Who"),
            Page("doc", "who is the doctor of the state of the art"),
        ],
    )
    assert found(pages, "the who") == ["who", "doc"]
    assert found(pages, '"state of the art"') == ["doc"]
    assert found(pages, '"art of the state"') == []
    assert found(pages, "title:the") == ["who"]


@pytest.mark.parametrize("query", ["free software", '"free software"'])
def test_a_quotation_in_another_language_is_no_better_than_pages_about_it(tmp_path: Path, query: str) -> None:
    """French stems `free` to `fre`, which is rare: rarity that stems from the language says nothing."""
    english = [
        Page(
            f"en/{number}",
            f"A page about free software, the {number}th of them; free software is what it is about.",
        )
        for number in range(30)
    ]
    french = [
        Page("fr/0", "Il cite la Free Software Foundation.", language="fr"),
        *[
            Page(f"fr/{number}", f"Rien que la page {number} du livre.", language="fr")
            for number in range(1, 9)
        ],
    ]
    ranked = found(indexed(tmp_path, [*french, *english]), query)
    assert len(ranked) == 31
    assert ranked[-1] == "fr/0"


def test_a_variety_of_a_language_is_found_as_the_language(tmp_path: Path) -> None:
    """Guesses of short texts name varieties, and nobody asks for them."""
    pages = indexed(
        tmp_path,
        [
            Page("zh", "公司发布了年度报告", language="zh-CN"),
            Page("wuu", "公司发布了月度报告", language="wuu"),
            Page("ary", "الكتب في المكتبة", language="ary"),
            Page("nb", "Bøkene i biblioteket", language="nb-NO"),
            Page("ms", "Buku di perpustakaan", language="ms"),
            Page("hbo", "הַשָּׁלוֹם עֲלֵיכֶם", language="hbo"),
            Page("grc", "οἱ ἄνθρωποι καὶ οἱ δρόμοι", language="grc"),
        ],
    )
    assert sorted(found(pages, "报告 lang:zh")) == ["wuu", "zh"]
    assert found(pages, "报告 lang:wuu") == ["wuu"]
    assert found(pages, "lang:zh-cn") == ["zh"]
    assert found(pages, "مكتبة lang:ar") == found(pages, "lang:ary") == ["ary"]
    assert found(pages, "bok") == found(pages, "lang:no") == found(pages, "lang:nb") == ["nb"]
    assert found(pages, "lang:he") == found(pages, "lang:hbo") == ["hbo"]
    assert found(pages, "δρόμος lang:el") == ["grc"], "with the stems of Greek"
    assert pages.facets(All(), 10)["language"] == {"zh": 2, "ar": 1, "no": 1, "ms": 1, "he": 1, "el": 1}


def test_persian_and_urdu_are_found_by_the_letters_of_an_arabic_keyboard_too(tmp_path: Path) -> None:
    """Yeh, kaf and heh have two characters each, which look alike (as Lucene's `PersianNormalizer` has it)."""
    pages = indexed(
        tmp_path,
        [
            Page("fa", "کتاب فارسی درباره برنامه", language="fa"),
            Page("typed", "كتاب فارسي", language="fa"),
            Page("ur", "یہ کہانی", language="ur"),
        ],
    )
    assert sorted(found(pages, "کتاب فارسی")) == sorted(found(pages, "كتاب فارسي")) == ["fa", "typed"]
    assert found(pages, "كهاني") == ["ur"]


@pytest.mark.parametrize(
    ("query", "urls"),
    [
        ('"to be or not to be"', ["en"]),
        ('"TO BE, or"', ["en"]),
        ('"not to be or to be"', []),
        ('"to be that"', ["en"]),
        ('"question of the"', ["en"]),
        ('"question of a"', []),
        ("to-be", ["en"]),
        ('"sein oder nicht"', ["de"]),
        ('"oder sein nicht"', []),
        ('"être ou ne pas être"', ["fr"]),
        ('"it was it"', ["none"]),
    ],
)
def test_phrases_of_the_commonest_words(hamlets, query: str, urls: list[str]) -> None:
    assert found(hamlets, query) == urls


@pytest.fixture(scope="module")
def hamlets(tmp_path_factory: pytest.TempPathFactory):
    return indexed(
        tmp_path_factory.mktemp("hamlets"),
        [
            Page("en", "To be, or not\nto be: that is the question of the play."),
            Page("de", "Sein oder nicht sein, das ist hier die Frage.", language="de"),
            Page("fr", "Être ou ne pas être, telle est la question.", language="fr"),
            Page("none", "It was it", language=""),
        ],
    )


def test_a_sign_that_belongs_to_a_word_tells_it_from_the_word_alone(tmp_path: Path) -> None:
    """In French and German `c` is one of the commonest words, which all pages are taken to have."""
    pages = indexed(
        tmp_path,
        [
            Page("c++", "Templates of C++ are compiled.", language="en"),
            Page("c", "Structures of C, in the 2nd edition.", language="en"),
            Page("c#", "Generics of C#.", language="en"),
            Page("net", "Written for .NET, not for the net alone.", language="en"),
            Page("asp", "The net of example.net has a+b in x++y.", language="en"),
            Page("zh", "我们用C++语言写程序", language="zh"),
            Page("fr", "C'est la programmation, et voici c.", language="fr"),
            Page("de", "Das C der Tonleiter.", language="de"),
            Page("fr++", "Ce livre parle de C++.", language="fr"),
        ],
    )
    assert {*found(pages, "C++")} == {"c++", "zh", "fr++"}
    assert {*found(pages, "c++语言")} == {"zh"}
    assert {*found(pages, "c#")} == {"c#"}
    assert {*found(pages, '"of c++ are"')} == {"c++"}
    assert {*found(pages, ".net")} == {"net"}
    assert {*found(pages, "net lang:en")} == {"net", "asp"}
    assert {"c++", "c", "c#"} < {*found(pages, "C")}


@given(
    words=st.sets(st.text("aeins\u00e4\u0153\ufb01\u0645\u0e01漢0", min_size=1, max_size=6), max_size=8),
    language=st.sampled_from(["", "de", "en", "ar"]),
)
@settings(max_examples=50, deadline=None)
def test_stems_asked_for_together_are_those_asked_for_singly(words: set[str], language: str) -> None:
    words |= {"w" * 101, "Running", "c04343"}
    assert stems_of(words, language) == {word: stem_of(word, language) for word in words}


def test_no_stemmer_changes_the_number_of_a_sign() -> None:
    assert {stem_of("c04343", one) for one in STEMMERS} == {"c04343"}


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["of", "The", "hill", "C++", ".NET", "a_b", " ", ", ", "\u201d", "\xa0", "\u2014", "-"]
        )
    )
)
def test_a_text_in_ascii_has_the_words_that_it_has_beside_another_letter(pieces: list[str]) -> None:
    text = "".join(pieces)

    def words(text: str) -> list[tuple[int, str]]:
        return [(token.position, token.text) for token in of_document(text, "en", common=False).tokens]

    assert words(f"{text} \u0416")[:-1] == words(text)


def test_symbols_that_are_not_told_apart_are_in_no_word() -> None:
    for one in filter(lambda one: without_symbols(one) == '"', map(chr, range(0x80, 0x3000))):
        shown = unicodedata.normalize("NFKC", one)
        assert all(unicodedata.category(part)[0] in "PS" for part in shown), f"{ord(one):x}"


@given(
    words=st.lists(
        st.sampled_from(
            ["to", "Be", "the", "und", "de", "kettles", "Häuser", "C++", ".NET", "2nd", "foo_bar", "don't", "маяков",
             "数据库", "हिन्दी", "x" * 101]
        ),
        max_size=5,
    ),
    language=st.sampled_from(["", "en", "de", "fr", "ru", "xx"]),
    common=st.booleans(),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_a_query_has_the_words_that_a_document_of_a_language_has(
    words: list[str], language: str, common: bool
) -> None:
    text = " ".join([*words, "end"])
    tokens = of_document(text, language, common=common).tokens
    first = tokens[0].position
    expected = tuple((token.position - first, token.text) for token in tokens)
    assert expected in sequences(text, ways_of(["en", language]), common=common)
