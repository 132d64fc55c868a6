"""Machines that are network namespaces: Ray nodes, a simulated web, cables that can be cut."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

from patience import PATIENCE

from gossamer.simweb import WorldSpec
from gossamer.simweb.servers.visits import Visit, read_visits

HEAD, WEB = "head", "web"
CLUSTER_NET, WEB_NET = "10.97", "10.98"
"""Machines talk to each other over the one, with the simulated web over the other."""
STORE_BYTES = 80_000_000
"""Of Ray's object store on each node, close to the least it takes."""
STARTS = 3
BIN = Path(sys.executable).parent


def missing() -> str:
    """Why there can be no namespaces here; empty if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    tools = [tool for tool in ("ip", "unshare") if shutil.which(tool) is None]
    if tools:
        return f"{' and '.join(tools)} not found: install iproute2 and util-linux"
    name = f"gsm-try-{secrets.token_hex(3)}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"network namespaces cannot be made here: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=False)
    return ""


def until(true: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """What `true` gives once that is something."""
    ends = time.monotonic() + seconds
    while not (value := true()):
        if time.monotonic() > ends:
            raise AssertionError(f"waited {seconds:.0f} s for: {what}")
        time.sleep(0.25)
    return value


class Machine:
    """One namespace, with a disk of its own, plugged into both networks."""

    def __init__(self, site: "Site", name: str, number: int) -> None:
        self.name = name
        self.host = f"gsm-{name}"
        self.address = f"{CLUSTER_NET}.{number}.1"
        self.web_address = f"{WEB_NET}.{number}.1"
        self.disk = site.path / name
        self.agents = self.disk / "agents"
        self._site = site
        self.namespace = f"gsm-{site.tag}-{name}"
        self.disk.mkdir()
        _ip("netns", "add", self.namespace)
        _ip("-n", self.namespace, "link", "set", "lo", "up")
        for net, address in (("c", self.address), ("w", self.web_address)):
            port = f"{net}-{name}"
            cable = ("type", "veth", "peer", f"e{net}", "netns", self.namespace)
            _ip("-n", site.hub, "link", "add", port, *cable)
            _ip("-n", site.hub, "link", "set", port, "master", f"br-{net}", "up")
            _ip("-n", self.namespace, "address", "add", f"{address}/16", "dev", f"e{net}")
            _ip("-n", self.namespace, "link", "set", f"e{net}", "up")

    def command(self, *words: str) -> list[str]:
        """What runs `words` here, under a host name of its own."""
        named = ["unshare", "--uts", "sh", "-c", f'hostname {self.host} && exec "$0" "$@"']
        return ["ip", "netns", "exec", self.namespace, *named, *words]

    def start(self, log: str, *words: str, **options: Any) -> "subprocess.Popen[bytes]":
        """A process here; what it says goes to `log` beside its disk."""
        environment = {**self._site.environment, "GOSSAMER_AGENTS": str(self.agents)}
        with (self._site.path / f"{log}.err").open("ab") as errors:
            options = {"stdin": subprocess.DEVNULL, "stdout": errors, **options}
            process = subprocess.Popen(self.command(*words), stderr=errors, env=environment, **options)
        self._site.started.append(process)
        return process

    def plug(self, *, cut: bool) -> None:
        """Cut the cable to the other machines, or mend it; that to the web stays."""
        _ip("-n", self._site.hub, "link", "set", f"c-{self.name}", "down" if cut else "up")

    def pids(self, beginning: str = "") -> list[int]:
        """Processes here whose command line begins so."""
        told = subprocess.run(
            ["ip", "netns", "pids", self.namespace], capture_output=True, text=True, check=False
        )
        return [pid for pid in map(int, told.stdout.split()) if _title(pid).startswith(beginning)]

    def kill(self, beginning: str = "") -> list[int]:
        """`kill -9` of some processes, by default all; which."""
        killed: list[int] = []
        for _ in range(20):  # they may start others meanwhile
            pids = [pid for pid in self.pids(beginning) if pid not in killed]
            if not pids:
                break
            for pid in pids:
                _kill(pid)
            killed += pids
            if beginning:
                break
            time.sleep(0.1)
        return killed

    def wipe(self) -> None:
        """Lose what the agents here had on disk."""
        shutil.rmtree(self.agents, ignore_errors=True)

    def remove(self) -> None:
        self.kill()
        _ip("netns", "del", self.namespace, check=False)


class Site:
    """Machines by name, a network between them, a snapshot store that all of them see."""

    def __init__(self, spec: WorldSpec, workers: int) -> None:
        self.spec = spec
        self.tag = secrets.token_hex(3)
        self.hub = f"gsm-{self.tag}-hub"
        self.path = Path(tempfile.mkdtemp(prefix="gsm", dir="/tmp"))  # sockets' paths must be short
        self.folder = self.path / "crawl"
        self.store = self.path / "store"
        self.started: list[subprocess.Popen[bytes]] = []
        self.machines: dict[str, Machine] = {}
        self.seeds: list[str] = []
        self.port = 20_000 + secrets.randbelow(10_000)  # Ray looks at processes of other namespaces too
        self._workers = workers
        token = self.path / "token"
        token.touch(mode=0o600)
        token.write_text(secrets.token_hex(32))
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_DEDUP_LOGS": "0",
            "RAY_raylet_start_wait_time_s": "120",  # by itself it gives up after 30, which a busy machine takes
        }

    def __enter__(self) -> Self:
        try:
            _ip("netns", "add", self.hub)
            for bridge in ("br-c", "br-w"):
                _ip("-n", self.hub, "link", "add", bridge, "type", "bridge")
                _ip("-n", self.hub, "link", "set", bridge, "up")
            self._serve()
            self.machines[HEAD] = Machine(self, HEAD, 1)
            self.start_head()
            for number in range(1, self._workers + 1):
                self.machines[str(number)] = Machine(self, str(number), number + 1)
            self.start_nodes()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take everything down."""
        for machine in self.machines.values():
            machine.remove()
        _ip("netns", "del", self.hub, check=False)
        for process in self.started:
            process.wait(PATIENCE)
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        if keep := os.environ.get("GOSSAMER_KEEP_NODES"):
            shutil.copytree(self.path, Path(keep) / self.path.name, symlinks=True, ignore=_special)
        shutil.rmtree(self.path, ignore_errors=True)

    # The web …

    def _serve(self) -> None:
        web = self.machines[WEB] = Machine(self, WEB, 0)
        spec = self.path / "spec.json"
        spec.write_text(self.spec.to_json())
        words = ("--spec", str(spec), "--announce", "--http-port", "80", "--dns-port", "53")
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        serving = (sys.executable, "-m", "gossamer.simweb", *words, "--log", str(self.path / "visits"))
        process = web.start("web", *serving, **options)
        assert process.stdout is not None
        self.seeds = json.loads(process.stdout.readline())["seeds"]

    @property
    def nameserver(self) -> str:
        return f"{WEB_NET}.0.1:53"

    def visits(self) -> list[Visit]:
        """What the simulated servers saw."""
        return read_visits(self.path / "visits")

    # Ray …

    @property
    def workers(self) -> list[Machine]:
        return [machine for name, machine in self.machines.items() if name not in (HEAD, WEB)]

    @property
    def address(self) -> str:
        """Of the Ray cluster."""
        return f"{self.machines[HEAD].address}:{self.port}"

    def start_head(self) -> None:
        """`ray start --head`; no agents live there."""
        plain = ("--num-cpus", "0", "--include-dashboard", "false")
        self._start([self.machines[HEAD]], "--head", "--port", str(self.port), *plain)

    def join(self, number: int) -> None:
        """A machine more."""
        machine = self.machines[str(number)] = Machine(self, str(number), number + 1)
        self.start_nodes(machine)

    def start_nodes(self, *machines: Machine) -> None:
        """`ray start` on workers (by default all), or again; each has room for two agents."""
        self._start(list(machines) or self.workers, "--address", self.address, "--num-cpus", "1")

    def _start(self, machines: list[Machine], *options: str) -> None:
        """All at once; those that Ray gives up after half a minute, as on a busy machine, again."""
        for _ in range(STARTS):
            started = [(machine, self._ray(machine, *options)) for machine in machines]
            machines = [machine for machine, process in started if process.wait(PATIENCE)]
            if not machines:
                return
            for machine in machines:
                machine.kill()
        raise AssertionError((self.path / f"ray-{machines[0].name}.err").read_text())

    def _ray(self, machine: Machine, *options: str) -> "subprocess.Popen[bytes]":
        own = ("--node-ip-address", machine.address, "--temp-dir", str(machine.disk / "r"))
        limits = ("--object-store-memory", str(STORE_BYTES), "--disable-usage-stats")
        words = ("start", *options, *own, *limits)
        return machine.start(f"ray-{machine.name}", str(BIN / "ray"), *words)

    # Gossamer …

    def gossamer(self, *words: str) -> str:
        """A command on the head machine to its end; what it prints."""
        head = self.machines[HEAD]
        command = head.command(sys.executable, "-m", "gossamer", *words)
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, env=self.environment, check=False
        )
        if done.returncode:
            raise AssertionError(f"gossamer {' '.join(words)}: {done.returncode}\n{done.stderr}")
        return done.stdout

    def crawl(self, agents: int, *options: str) -> "subprocess.Popen[bytes]":
        """`gossamer cluster crawl` on the head machine."""
        words = ("--agents", str(agents), "--store", str(self.store), "--dir", str(self.folder), *options)
        return self._drive("crawl", *words)

    def resume(self) -> "subprocess.Popen[bytes]":
        """`gossamer cluster resume` on the head machine."""
        return self._drive("resume", str(self.folder))

    def _drive(self, *words: str) -> "subprocess.Popen[bytes]":
        command = (sys.executable, "-m", "gossamer", "cluster", *words, "--address", self.address, "--json")
        with (self.path / "driver.out").open("wb") as out:
            return self.machines[HEAD].start("driver", *command, stdout=out)

    def status(self) -> dict[str, Any]:
        """`gossamer cluster status --json`; empty if it fails, for example because all is over."""
        try:
            return json.loads(self.gossamer("cluster", "status", str(self.folder), "--json"))
        except (AssertionError, subprocess.TimeoutExpired) as error:
            with (self.path / "status.err").open("a") as log:
                log.write(f"{error}\n")
            return {}

    def report(self, process: "subprocess.Popen[bytes]", seconds: float) -> dict[str, Any]:
        """What the driver printed at its end."""
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not over after {seconds:.0f} s: {self.story()}") from None
        if status:
            raise AssertionError(f"exit {status}: {self.story()}")
        return json.loads((self.path / "driver.out").read_text())

    def story(self) -> str:
        """For whoever must find out what went wrong."""
        told = (self.path / "driver.err").read_text()[-2_000:]
        return f"{told}\n{json.dumps(self.status(), indent=1)}"

    def fetched(self) -> int:
        """Visits so far."""
        return len(self.visits())


def hurried(visits: Iterable[Visit], rest: float) -> list[tuple[Visit, Visit]]:
    """Visits to a host before it had rested from the one before, by whichever agent."""
    last: dict[str, Visit] = {}
    found = []
    for visit in sorted(visits, key=lambda visit: visit.started):
        before = last.get(visit.host)
        if before is not None and visit.started < before.ended + rest:
            found.append((before, visit))
        if before is None or visit.ended > before.ended:
            last[visit.host] = visit
    return found


def _ip(*words: str, check: bool = True) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"ip {' '.join(words)}: {done.stderr}")


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "\0"


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _special(folder: str, names: list[str]) -> list[str]:
    """Sockets, which cannot be copied."""
    return [name for name in names if not (Path(folder, name).is_file() or Path(folder, name).is_dir())]
