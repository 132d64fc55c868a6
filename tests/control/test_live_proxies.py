"""Who watches a crawl sees which of its proxies are left out, and no password."""

import asyncio
import json
import socket
from pathlib import Path

from in_process import gossamer
from live_world import PACED, running_with
from small_site import Site


def page(host: str, path: str, _: object) -> tuple[int, dict[str, str], str]:
    links = "".join(f'<a href="{n}">x</a>' for n in range(50))
    return 200, {"Content-Type": "text/html"}, links if path.endswith("/") else "x"


def test_a_proxy_that_is_left_out_is_shown(tmp_path: Path) -> None:
    async def main() -> None:
        with Site(page) as alive, socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))  # and does not listen
            gone = bound.getsockname()[1]
            settings = PACED | {
                "seeds": [f"http://site{number}.example/" for number in range(12)],
                "fetch.proxy": f"http://me:w0rd@127.0.0.1:{alive.port} http://me:w0rd@127.0.0.1:{gone}",
                "fetch.names_by_proxy": True,
                "robots.obey": False,
            }
            async with running_with(tmp_path / "crawl", settings) as live:
                status = await live.until(lambda status: any(one["left_out"] for one in status["proxies"]))
                shown = await asyncio.to_thread(gossamer, "status", "crawl", cwd=tmp_path)
                listed = await asyncio.to_thread(gossamer, "status", "crawl", "--json", cwd=tmp_path)
                await live.ask("stop")
                await live.task
                assert [one["proxy"] for one in status["proxies"]] == [
                    f"http://127.0.0.1:{gone}",
                    f"http://127.0.0.1:{alive.port}",
                ]
                assert [one["failures"] > 0 for one in status["proxies"]] == [True, False]
                line = next(line for line in shown.stdout.splitlines() if line.startswith("proxies"))
                out = f"proxies   1 of 2 in use; left out for a while: http://127.0.0.1:{gone} ("
                assert line.startswith(out), line
                assert [one["proxy"] for one in json.loads(listed.stdout)["proxies"]] == [
                    one["proxy"] for one in status["proxies"]
                ]
                assert "w0rd" not in str((status, shown, listed))

    asyncio.run(main())
