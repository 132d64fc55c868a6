"""A cluster from outside: what its folder says after it was told something."""

from types import SimpleNamespace

import pytest
from ray_there import needs_ray

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.model.errors import ConfigError

pytestmark = needs_ray
SETTINGS = {"seeds": ["http://a.example/"], "fetch": {"contact": "me@example.org"}}


@pytest.fixture
def control(tmp_path, monkeypatch):
    """Of a cluster of four whose coordinator, here, does as it is told."""
    from gossamer.cluster import launch  # a second, for Ray

    wanted = [4]
    answers = {
        "scale_to": lambda agents: wanted.__setitem__(0, agents),
        "drain": lambda name: [wanted.__setitem__(0, wanted[0] - 1), 1][1] if name == "a-1" else 0,
    }
    monkeypatch.setattr(launch.ray, "get_actor", lambda *_, **__: None)
    monkeypatch.setattr(launch.Control, "_answer", lambda _, method, *words: answers[method](*words))
    monkeypatch.setattr(launch.Control, "overview", lambda _: SimpleNamespace(wanted_agents=wanted[0]))
    plan = launch.plan_new(tmp_path / "c", load(CrawlConfig, SETTINGS), launch.Wish(agents=4))
    return launch.Control(plan)


def agents(folder) -> int:
    from gossamer.cluster import launch

    return launch.plan_again(folder, None).coordination.agents


def test_resume_goes_on_with_as_many_agents_as_were_wanted_last(control, tmp_path):
    control.scale_to(3)
    assert agents(tmp_path / "c") == 3
    assert control.drain("a-1") == 1
    assert agents(tmp_path / "c") == 2
    assert control.drain("a-9") == 0
    assert agents(tmp_path / "c") == 2


def test_what_agents_cannot_do_together_is_refused(tmp_path):
    from gossamer.cluster.launch import Wish, plan_new

    settings = {**SETTINGS, "storage": {"upload": "s3://bucket/crawl"}}
    with pytest.raises(ConfigError, match=r"storage.upload: a cluster keeps snapshots in a store of its own"):
        plan_new(tmp_path / "c", load(CrawlConfig, settings), Wish(agents=2))
    assert not (tmp_path / "c").exists()
