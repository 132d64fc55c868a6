"""A test of many cases tries them all, and says of each that fails which it is."""

import pytest
from every import every


def test_each_case_that_fails_is_named_with_what_is_wrong() -> None:
    tried = []

    @every("language", ["en", "zh"])
    @every("number", range(4))
    def check(number: int, language: str) -> None:
        tried.append((language, number))
        assert number % 2 == 0 or language == "en", f"{number} is odd"

    with pytest.raises(ExceptionGroup, match=r"^1 of 2: #1 zh$") as caught:
        check()
    assert tried == [(language, number) for language in ("en", "zh") for number in range(4)]
    [of_zh] = caught.value.exceptions
    assert isinstance(of_zh, ExceptionGroup) and of_zh.message == "2 of 4: #1 1; #3 3"
    assert [str(error).partition("\n")[0] for error in of_zh.exceptions] == ["1 is odd", "3 is odd"]
    assert [error.__notes__ for error in of_zh.exceptions] == [["number: 1"], ["number: 3"]]


@every("number", [1, 2])
def test_fixtures_are_had(capsys: pytest.CaptureFixture[str], number: int) -> None:
    print(number)
    assert capsys.readouterr().out == f"{number}\n"


def test_without_cases_nothing_would_be_tested() -> None:
    with pytest.raises(AssertionError, match="without any number could not fail"):
        every("number", [])
