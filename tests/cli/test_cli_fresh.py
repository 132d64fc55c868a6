"""How fresh a crawl is, on the terminal, in JSON, by the views and for Prometheus."""

import json
import time
from pathlib import Path

import msgspec
from in_process import gossamer
from revisited_state import HOUR, RevisitedState

from gossamer.cli.terminal.fresh_line import fresh_line
from gossamer.control.prometheus import Exposition
from gossamer.control.views.context import view_context
from gossamer.control.views.views import answer_view
from gossamer.inspect.freshness import FreshnessSums
from gossamer.policy.revisit.freshness import Freshness
from gossamer.policy.revisit.gone import Presence


def revisited(folder: Path) -> Path:
    state, figures, now = RevisitedState(folder), Freshness(), time.time()
    for number in range(20):
        history = state.page("a.test", number, changed=2, same=2, age=48 * HOUR)
        figures.note(history, now, changed=number % 4 == 0)
    state.page("a.test", 98, presence=Presence.NEVER)
    state.page("a.test", 99, presence=Presence.GONE)
    state.figures(figures, visits=20, changed=5, not_modified=3, saved=3 << 20)
    state.close()
    return folder


def test_status_says_how_fresh_it_is(tmp_path: Path):
    ran = gossamer("status", str(revisited(tmp_path / "c")), cwd=tmp_path)
    lines = [line for line in ran.stdout.splitlines() if line.startswith("fresh")]
    assert len(lines) == 1, ran.stdout
    assert (
        "% of 20 pages stale (" in lines[0]
        and "; 1 page gone; 1 never seen; a change is noticed after " in lines[0]
    )
    assert "gone" not in next(line for line in ran.stdout.splitlines() if line.startswith("again"))
    told = json.loads(gossamer("status", "--json", str(tmp_path / "c"), cwd=tmp_path).stdout)["freshness"]
    assert (told["pages"], told["gone"], told["visits"], told["useful"]) == (20, 1, 20, 5)


def test_a_crawl_that_visits_nothing_again_says_nothing_of_it(tmp_path: Path):
    state = RevisitedState(tmp_path / "c")
    state.page("a.test", 1, history=False)
    state.close()
    assert "fresh" not in gossamer("status", str(tmp_path / "c"), cwd=tmp_path).stdout
    assert fresh_line(FreshnessSums()) == ""


def test_the_view_and_the_metrics_say_the_same(tmp_path: Path):
    with view_context(revisited(tmp_path / "c")) as look:
        whole, status = answer_view(look, "freshness", {}), answer_view(look, "status", {})
    assert status["freshness"] == {name: whole[name] for name in FreshnessSums.__struct_fields__}
    assert whole["sites"][0]["host"] == "a.test"
    told = Exposition()
    told.crawls([({"job": "a"}, msgspec.to_builtins(status))])
    assert f'gossamer_crawl_stale_share{{job="a"}} {whole["stale"]:.17g}\n' in told.text()
    assert 'gossamer_crawl_useful_visits_total{job="a"} 5\n' in told.text()
    assert 'gossamer_crawl_saved_bytes_total{job="a"} 3145728\n' in told.text()
