"""What can be asked of a cluster's folder when nobody answers for it, or while it goes on."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from cli_run import Gossamer

from gossamer.cluster.agent.messages import Message, encode
from gossamer.cluster.agent.outbox import outbox_key
from gossamer.inspect.clusters.cluster_folder import AGENTS, begin_again, keep_last
from gossamer.inspect.clusters.cluster_view import AgentOverview, Overview
from gossamer.model.link import LinkKind
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import QueueRecord
from gossamer.watch.store import SeenPage, Store, transaction

AGENT = AgentOverview(
    name="",
    incarnation=1,
    node="far-away",
    weight=1.0,
    state="gone",
    shards=0,
    moving=0,
    silent=None,
    idle=True,
    pages=4,
    bytes=100,
    queued=0,
    sent=0,
    received=0,
    owed=0,
    outbox=0,
    snapshot=1,
    snapshot_age=2.0,
    problem="",
)
FINISHED = Overview(
    term=1,
    epoch=3,
    wanted_agents=2,
    agents=tuple(msgspec.structs.replace(AGENT, name=name) for name in ("a-1", "a-2")),
    moves=(),
    shards=4,
    owned=4,
    moving=0,
    homeless=0,
    pages=8,
    bytes=200,
    queued=0,
    wave=1,
    scope_hosts=0,
    elapsed=3.0,
    stop="finished",
    over=True,
)
INDEX = "index.cdxj"


def write_index(folder: Path) -> None:
    """As `cluster.snapshots.collection` does."""
    lines = []
    for agent in sorted((folder / "agents").glob("a-*")):
        for line in (agent / INDEX).read_text().splitlines():
            key, _, fields = line.partition(" {")
            told = json.loads("{" + fields)
            told["filename"] = f"agents/{agent.name}/archive/{told['filename']}"
            lines.append(f"{key} {json.dumps(told)}\n")
    (folder / INDEX).write_text("".join(sorted(lines)))


@pytest.fixture(scope="module")
def crawled(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cluster that said nothing when it ended: two agents, each with a host of its own."""
    folder = tmp_path_factory.mktemp("cluster") / "c"
    for agent, host in (("a-1", "127.0.0.1"), ("a-2", "localhost")):
        seed = f"http://{host}:{site.rpartition(':')[2]}/"
        options = ("--min-delay", "0", "--set", "fetch.allow_private=true", "-q")
        command = [sys.executable, "-m", "gossamer", "crawl", seed, *options]
        subprocess.run([*command, "--dir", str(folder / "agents" / agent)], check=True)
    (folder / "cluster.json").write_text(json.dumps({"coordination": {"agents": 2}}))
    return folder


@pytest.fixture
def cluster(crawled: Path, tmp_path: Path) -> Path:
    """A copy that finished."""
    folder = tmp_path / "d"
    shutil.copytree(crawled, folder)
    write_index(folder)
    keep_last(folder, FINISHED)
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_a_finished_cluster_says_when_and_how_it_ended(gossamer: Gossamer) -> None:
    ran = gossamer("cluster", "status", "d")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("d: ended: finished, 20")
    assert lines[1].startswith("pages     8")
    assert [line[:3] for line in lines[3:]] == ["a-1", "a-2"]
    told = json.loads(gossamer("cluster", "status", "d", "--json").out)
    assert (told["state"], told["pages"], told["stop"]) == ("ended", 8, "finished")


@pytest.mark.slow
def test_one_that_was_stopped_says_how_to_go_on(gossamer: Gossamer, cluster: Path) -> None:
    keep_last(cluster, msgspec.structs.replace(FINISHED, stop="interrupted"))
    ran = gossamer("cluster", "status", "d")
    assert ran.out.startswith("d: ended: interrupted, 20")
    assert ran.out.splitlines()[0].endswith("; 'gossamer cluster resume d' goes on")


def test_one_that_was_killed_says_so(gossamer: Gossamer, cluster: Path) -> None:
    keep_last(cluster, msgspec.structs.replace(FINISHED, over=False, stop=""))
    (cluster / "address").write_text("127.0.0.1:1")  # nobody listens there
    ran = gossamer("cluster", "status", "d")
    assert ran.code == 0
    assert "d: broken off, last heard 20" in ran.out
    assert "gossamer cluster resume d" in ran.out


@pytest.mark.parametrize("words", [None, "", "{}", '{"at": 1'])
def test_without_its_last_words_the_agents_folders_tell(
    gossamer: Gossamer, cluster: Path, words: str | None
) -> None:
    (cluster / "last.json").unlink()
    if words is not None:
        (cluster / "last.json").write_text(words)
    ran = gossamer("cluster", "status", "d")
    assert ran.code == 0
    assert "pages     8 " in ran.out


@pytest.mark.usefixtures("cluster")
def test_status_is_of_all_agents(gossamer: Gossamer) -> None:
    ran = gossamer("status", "d")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[1].startswith("state     ended: finished, ")
    assert lines[2].startswith("pages     8 ")
    assert "a-1       ended: 4 pages, 0 queued, 0 waiting" in lines
    assert "a-2       ended: 4 pages, 0 queued, 0 waiting" in lines
    assert {
        "  127.0.0.1: 4 pages, 0 queued, 0 waiting, empty",
        "  localhost: 4 pages, 0 queued, 0 waiting, empty",
    } <= {*lines}
    told = json.loads(gossamer("status", "d", "--json").out)
    assert (told["sums"]["pages"], told["hosts_by_state"]) == (8, {"empty": 2})
    assert told["sums"]["statuses"]["404"] >= 2


def test_why_asks_the_agent_that_visited_it(gossamer: Gossamer, cluster: Path, site: str) -> None:
    port = site.rpartition(":")[2]
    for host, agent in (("127.0.0.1", "a-1"), ("localhost", "a-2")):
        for command in (("why",), ("cluster", "why")):
            ran = gossamer(*command, "d", f"http://{host}:{port}/a.html")
            assert ran.code == 0
            assert ran.out.startswith(f"http://{host}:{port}/a.html: done\n")
            assert f"agent           {agent} tells this" in ran.out
    ran = gossamer("why", "d", "http://elsewhere.example/")
    assert "rejected" in ran.out
    assert "knows it too: rejected" in ran.out
    ran = gossamer("why", "d", f"http://localhost:{port}/aa.html")
    assert ran.out.count("unknown") == 1
    assert f"did you mean    http://localhost:{port}/a.html" in ran.out
    told = json.loads(gossamer("why", "d", f"http://localhost:{port}/a.html", "--json").out)
    assert (told["agent"], told["state"]) == ("a-2", "done")


def test_why_finds_a_link_that_was_not_handed_over(gossamer: Gossamer, cluster: Path, site: str) -> None:
    url, via = f"http://localhost:{site.rpartition(':')[2]}/new.html", "http://127.0.0.1/"
    environment = Environment.open(cluster / "agents" / "a-1" / "state", StateConfig())
    batch = environment.batch()
    link = QueueRecord(url, LinkKind.NAVIGATION, 1, "L", via)
    batch.put(Family.OUTBOX, outbox_key(0, 1), encode(Message(link=link)))
    environment.commit(batch)
    environment.close()
    ran = gossamer("why", "d", url)
    assert ran.out.startswith(f"{url}: unknown\n")
    assert f"a-1             found it on {via} and is to hand it over to its owner" in ran.out


def test_a_cluster_that_goes_on_has_not_ended(gossamer: Gossamer, cluster: Path) -> None:
    begin_again(cluster)  # as 'cluster resume' does before anything else
    assert "d: broken off" in gossamer("cluster", "status", "d").out


@pytest.mark.usefixtures("cluster")
def test_list_and_export_go_through_all_agents(gossamer: Gossamer, tmp_path: Path) -> None:
    listed = [
        json.loads(line)["url"]
        for line in gossamer("list", "d", "--status", "200", "--json").out.splitlines()
    ]
    assert {url.split("/")[2].split(":")[0] for url in listed} == {"127.0.0.1", "localhost"}
    rejected = gossamer("list", "d", "--state", "rejected").out.splitlines()
    assert len(rejected) == len(set(rejected)), "one that both turned away is told once"
    assert gossamer("traps", "d").code == 0
    assert gossamer("export", "links", "d").code == 0
    assert (tmp_path / "d" / "links" / "urls.tsv.gz").exists()


@pytest.mark.usefixtures("cluster")
def test_the_report_is_one_page_over_all(gossamer: Gossamer, tmp_path: Path) -> None:
    ran = gossamer("report", "d", "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert (told["sums"]["pages"], told["log"]["endings"]["done"] >= 8) == (8, True)
    assert {line["name"] for line in told["hosts"]["most_pages"]} == {"127.0.0.1", "localhost"}
    assert gossamer("report", "d").code == 0
    assert "localhost" in (tmp_path / "d" / "report.html").read_text()


@pytest.mark.slow
def test_check_is_of_each_agent_and_of_the_whole_index(gossamer: Gossamer, cluster: Path) -> None:
    ran = gossamer("check", "d")
    assert (ran.code, "all is well" in ran.out) == (0, True), ran.out
    index = cluster / INDEX
    lines = index.read_text().splitlines(keepends=True)
    index.write_text("".join(lines[:-1]))
    ran = gossamer("check", "d")
    assert ran.code == 1
    assert "lines for" in ran.out
    assert "gossamer cluster resume" in ran.out
    index.write_text("".join(reversed(lines)))
    assert "out of order" in gossamer("check", "d").out
    index.write_text("".join([*lines[:-1], lines[-1].replace('"length": "', '"length": "1')]))
    assert "lines are not as a-" in gossamer("check", "d").out
    index.write_text("".join([*lines[:-1], "}\n"]))
    assert "out of order" in gossamer("check", "d").out or "cannot be read" in gossamer("check", "d").out
    index.unlink()
    assert "index.cdxj: is not there" in gossamer("check", "d").out


def test_an_agents_damage_is_told_with_its_name(gossamer: Gossamer, cluster: Path) -> None:
    file = next((cluster / "agents" / "a-2" / "archive").iterdir())
    file.write_bytes(file.read_bytes()[:-40])
    ran = gossamer("check", "d")
    assert ran.code == 1
    assert any(line.startswith("a-2: archive ") for line in ran.out.splitlines())
    assert not any(line.startswith("a-1: ") for line in ran.out.splitlines())


def test_an_agent_of_another_machine_is_named(gossamer: Gossamer, cluster: Path) -> None:
    shutil.rmtree(cluster / "agents" / "a-2")
    for command in (("status",), ("list",), ("why", "http://nowhere.example/")):
        ran = gossamer(command[0], "d", *command[1:])
        assert ran.code == 0
        assert "a-2: its folder d/agents/a-2 is not here; it was on far-away" in ran.err
    assert "pages     4 " in gossamer("status", "d").out
    ran = gossamer("check", "d")
    assert ran.code == 1
    assert "a-2: its folder" in ran.out
    (cluster / "last.json").unlink()
    assert "2 agents were planned" in gossamer("status", "d").err
    shutil.rmtree(cluster / "agents")
    ran = gossamer("status", "d")
    assert ran.code == 2
    assert "no agent of this cluster has a crawl in d/agents" in ran.err


def test_an_agent_whose_disk_is_not_mounted_is_not_of_another_machine(
    gossamer: Gossamer, cluster: Path, tmp_path: Path
) -> None:
    state = cluster / "agents" / "a-2" / "state"
    home = tmp_path / "disk" / "a-2-00000000"
    home.mkdir(parents=True)
    state.rename(home / "state")
    (home / "of-crawl").write_text(f"{state.parent}\n")
    state.symlink_to(home / "state")
    assert "pages     8 " in gossamer("status", "d").out
    home.parent.rename(tmp_path / "unplugged")
    for command in ("status", "check"):
        ran = gossamer(command, "d")
        assert ran.code == 3
        assert "d/agents/a-2/state: kept at" in ran.err
        assert "far-away" not in ran.err


def test_agents_may_have_their_folders_elsewhere(
    gossamer: Gossamer, cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cluster / "agents").rename(tmp_path / "there")
    monkeypatch.setenv(AGENTS, str(tmp_path / "there"))
    assert "pages     8 " in gossamer("status", "d").out


def test_a_lost_agent_counts_by_what_others_went_on_from(gossamer: Gossamer, cluster: Path) -> None:
    agents = (FINISHED.agents[0], msgspec.structs.replace(FINISHED.agents[1], state="lost"))
    keep_last(cluster, msgspec.structs.replace(FINISHED, agents=agents))
    ran = gossamer("status", "d")
    assert (ran.code, ran.err) == (0, "")
    assert "pages     4 " in ran.out


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_no_ray_is_needed(tmp_path: Path) -> None:
    """A process that cannot import it asks all the same."""
    code = "import sys; sys.modules['ray'] = None; from gossamer.cli import main; main()"
    for command in (("status",), ("check",), ("report",)):
        done = subprocess.run(
            [sys.executable, "-c", code, *command, "d"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_a_folder_without_a_cluster_says_so(gossamer: Gossamer, tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    for command in (("status", "e"), ("why", "e", "http://a.example/")):
        ran = gossamer("cluster", *command)
        assert ran.code == 2
        assert "holds no cluster's crawl" in ran.err


def test_watches_of_all_agents_are_summed(gossamer: Gossamer, cluster: Path) -> None:
    for name in ("a-1", "a-2"):
        folder = cluster / "agents" / name
        toml = (folder / "crawl.toml").read_text()
        assert "\nwatch = []" in toml
        watches = '\nwatch = [{ name = "news", match = "/news/*" }]'
        (folder / "crawl.toml").write_text(toml.replace("\nwatch = []", watches))
        store = Store(folder)
        with transaction(store.database, store.path):
            store.keep(SeenPage("news", f"http://{name}.test/news/1", f"{name}.test"))
        store.close()
    assert "  2 pages, seen" in gossamer("watch", "d").out
    assert gossamer("watch", "d", "--pause", "news").out.splitlines() == ["news: paused"] * 2
    refused = gossamer("watch", "d", "--once")
    assert refused.code == 2 and "agents watch each for themselves" in refused.err
