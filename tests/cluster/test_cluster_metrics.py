"""What Prometheus reads of a cluster."""

import threading
import urllib.error
import urllib.request

import msgspec
import pytest
from prometheus_text import check

from gossamer.cluster.coordination.coordination import Coordination
from gossamer.cluster.coordination.overview import LossOverview
from gossamer.cluster.coordination.record import CoordinationConfig
from gossamer.cluster.metrics import exposition, server
from gossamer.cluster.protocol import Host, Report


def core(agents=2):
    """A coordination with agents that have renewed once."""
    core = Coordination.new(CoordinationConfig(bits=4, agents=agents), 0.0)
    for number in range(agents):
        me = core.register(Host(f"node {number}", f"boot {number}"), None, 1.0)
        core.data()
        core.saved()
        core.renew(Report(agent=me.name, incarnation=me.incarnation, term=me.term, number=1, outbox=7), 2.0)
    return core


def test_each_agent_has_series_of_its_own():
    text = exposition(core().overview(3.0), {"a-2": {"sums": {"pages": 5}}})
    described = check(text)
    assert {"gossamer_cluster_shards", "gossamer_agent_outbox", "gossamer_crawl_pages_total"} <= described
    assert "gossamer_cluster_shards 16\n" in text
    assert 'gossamer_agent_outbox{agent="a-1",node="node 0"} 7\n' in text
    assert 'gossamer_agent_silent_seconds{agent="a-2",node="node 1"} 1\n' in text
    assert 'gossamer_crawl_pages_total{agent="a-2",node="node 1"} 5\n' in text
    assert 'gossamer_crawl_pages_total{agent="a-1"' not in text, "it did not answer"


def test_an_agent_never_heard_has_no_silence():
    fresh = Coordination.load(core().data(), 0.0)
    assert "gossamer_agent_silent_seconds{" not in exposition(fresh.overview(0.0), {})


def test_what_is_lost_is_counted_and_told():
    overview = core().overview(3.0)
    assert "gossamer_cluster_losses_total 0\n" in exposition(overview, {})
    losses = (
        LossOverview(
            agent="a-2", snapshot=7, used=6, shards=3, outbox=True, reason="state/1.sst: is missing"
        ),
        LossOverview(agent="a-2", snapshot=6, used=0, shards=3, outbox=True, reason="no manifest"),
    )
    overview = msgspec.structs.replace(overview, losses=losses)
    text = exposition(overview, {})
    check(text)
    assert "gossamer_cluster_losses_total 2\n" in text
    pytest.importorskip("ray", reason="the extra 'cluster' is not installed")
    from gossamer.cli.cluster_shown import told_of

    older, anew = map(told_of, losses)
    assert older.startswith(
        "snapshot 7 of a-2, which is lost, cannot be used: state/1.sst: is missing. Others go on"
    )
    assert "from its snapshot 6" in older
    assert "3 shards begin anew" in anew
    assert "Links that it still owed to others are lost." in anew
    assert "Links that it still owed" not in older
    assert all("crawl them once more." in told for told in (older, anew))


def test_it_answers_over_http_and_says_when_it_cannot():
    answers = iter(["x 1\n", ConnectionError("the coordinator is being started")])

    def told():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with server("127.0.0.1", 0, told) as answering:
        running = threading.Thread(target=answering.serve_forever, args=(0.02,))
        running.start()
        try:
            address = f"http://127.0.0.1:{answering.server_port}"
            with urllib.request.urlopen(f"{address}/metrics") as response:
                assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                assert response.read() == b"x 1\n"
            with pytest.raises(urllib.error.HTTPError, match="503"):
                urllib.request.urlopen(f"{address}/metrics")
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"{address}/")
        finally:
            answering.shutdown()
            running.join()
