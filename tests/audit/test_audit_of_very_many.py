"""An audit's memory does not grow with the number of links."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from farm_site import crawl
from link_farm import link_farm, page

MEASURED = """
import json, resource, sys
from pathlib import Path
from gossamer.audit.audit import audited
from gossamer.audit.config import AuditAsked
from gossamer.audit.excused import Baseline, IgnoreList
from gossamer.audit.outputs.as_json import as_json
from gossamer.inspect.inspection import inspect
size = 0
with inspect(Path(sys.argv[1])) as seen, audited(seen, AuditAsked(outside=False), Baseline(), IgnoreList()) as told:
    links = sum(told.verdicts.values())
    for piece in as_json(told):
        size += len(piece)
print(json.dumps([links, size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10]))
"""


def measured(folder: Path, pages: int, links: int) -> tuple[int, int, int]:
    """Links, bytes of JSON, and the most MiB of a process that audits pages of so many links."""
    told = {
        f"p{number}": page(
            "".join(f"<a href='http://h{at % 999}.invalid/{number}/{at}#x'>w</a> " for at in range(links))
        )
        for number in range(pages)
    }
    home = "".join(f"<a href={name}>x</a>" for name in told)
    folder.mkdir()
    with link_farm({"": page(home), **told}) as site:
        path = crawl(site.address, folder)
    ran = subprocess.run([sys.executable, "-c", MEASURED, path], capture_output=True, text=True, check=True)
    links_found, size, memory = json.loads(ran.stdout)
    return links_found, size, memory


@pytest.mark.slow
def test_a_hundred_thousand_links(tmp_path: Path) -> None:
    few = measured(tmp_path / "few", 5, 4_000)
    many = measured(tmp_path / "many", 25, 4_000)
    assert (few[0], many[0]) == (20_005, 100_025)
    print(few, many)
    assert many[1] > 4 * few[1]
    assert many[2] < few[2] + 40
