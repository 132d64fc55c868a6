"""`gossamer login`: the recipe is found, can be pasted, and is tried."""

import tomllib
from pathlib import Path

import pytest
from cli_run import Gossamer
from members_site import NAME, PASSWORD, MembersSite

pytestmark = pytest.mark.usefixtures("no_rests")


def test_a_recipe_is_found_tried_and_can_be_pasted(
    gossamer: Gossamer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = MembersSite(1)
    with site.serving() as address:
        found = gossamer("login", f"{address}login")
        assert found.code == 0
        place, recipe = next(iter(tomllib.loads(found.out)["login"].items()))
        assert f"http://{place}/" == address
        assert recipe["page"] == f"{address}login" and recipe["logged_out"] == "input[type=password]"
        variables = {key: value.removeprefix("env:") for key, value in recipe["fields"].items()}
        assert set(variables) == {"user", "word"} and all(name in found.err for name in variables.values())

        assert "to try it, set LOGIN_127_0_0_1_USER" in gossamer("login", f"{address}login", "--try").err
        monkeypatch.setenv(variables["user"], NAME)
        monkeypatch.setenv(variables["word"], "wrong")
        refused = gossamer("login", f"{address}login", "--try")
        assert (refused.code, site.log_ins) == (2, 0) and "did not let us in" in refused.err
        monkeypatch.setenv(variables["word"], PASSWORD)
        tried = gossamer("login", f"{address}login", "--try")
        assert (tried.code, site.log_ins) == (0, 1)
        assert 'a better mark than logged_out: logged_in = "a[href*=\\"logout\\"]"' in tried.err
        pasted = tmp_path / "own.toml"
        pasted.write_text(found.out)
        assert gossamer("login", f"{address}p/1", "--try", "--config", str(pasted)).code == 0
        assert site.as_member["/p/1"] == 1


@pytest.mark.parametrize(
    ("form", "options", "said"),
    [
        ("nothing", (), "has no form to log in"),
        ("<form><input type=password name=a></form>" * 2, (), "Give one: --form (1, 2)"),
        ("<form><input type=password name=a></form>", ("--form", "x"), "has no form 'x'"),
        ("<form>" + "<input name=a>" * 501, (), "has too many forms"),
        ("%PDF-1.4", (), "is no page of HTML, but application/pdf"),
    ],
)
def test_what_is_no_log_in_page_is_told(
    gossamer: Gossamer, form: str, options: tuple[str, ...], said: str
) -> None:
    site = MembersSite(1)
    site.forms = {"/login": form}
    with site.serving() as address:
        ran = gossamer("login", f"{address}login", *options)
    assert (ran.code, ran.out) == (2, "") and said in ran.err
