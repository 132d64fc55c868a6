"""The daemon has captures compared by a process that reads."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from crawled_often import crawled_often
from small_site import Answer, Site

from gossamer.daemon.errors import ServiceError
from gossamer.daemon.reading.process import Readers


def _priced(_: str, path: str, asked: Counter[tuple[str, str]]) -> Answer:
    visit = sum(times for (_, one), times in asked.items() if one == path)
    status = 200 if path == "/" else 404
    return status, {"Content-Type": "text/html"}, f"<p>It stays.</p><p>It costs ${visit}.00</p>"


@pytest.mark.slow
def test_two_captures_are_compared(tmp_path: Path) -> None:
    asyncio.run(_compared(tmp_path))


async def _compared(tmp_path: Path) -> None:
    readers = Readers(1.0, 1)
    with Site(_priced) as shop:
        url = shop.address
        await crawled_often(url, tmp_path / "d", 3)
    found = await readers.compare(tmp_path / "d", url, "", "", everything=False)
    assert (found.changed, found.removed, found.added) == (True, 1, 1)
    (passage,) = found.passages
    assert ["".join(span.text for span in row.new) for row in passage.rows] == ["It stays.", "It costs $3.00"]
    assert [span.text for span in passage.rows[1].old if span.differs] == ["2"]
    first = await readers.compare(tmp_path / "d", url, "2001", "", everything=True)
    assert first.before.time < found.before.time
    with pytest.raises(ServiceError) as error:
        await readers.compare(tmp_path / "d", url + "never", "", "", everything=False)
    assert error.value.code == "not_found"
