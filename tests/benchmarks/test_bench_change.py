"""The benchmark of changes, small: what it promises holds on made-up pages, and a hash of the text is worse."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from benchmarks import change


@pytest.mark.slow
def test_planted_changes_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    day = 86_400
    histories = {f"page-{n}": [day * (n + 17 * at * at) for at in range(9)] for n in range(5)}
    (tmp_path / "made.json.gz").write_bytes(gzip.compress(json.dumps(histories).encode()))
    monkeypatch.setattr(
        sys, "argv", ["change", "--histories", str(tmp_path), "--groups", "tuned", "--sites", "12", "--json"]
    )
    change.main()
    report = json.loads(capsys.readouterr().out)
    found = report["tuned"]
    assert found["precision"] >= 0.95
    assert found["recall"] >= 0.95
    assert found["false_alarms"] <= 0.02
    assert found["text_hash"]["false_alarms"] > 0.3
    assert found["bytes_of_a_site"]["most"] <= found["bytes_of_a_site"]["bound"]
    assert report["large"]["hunks"] > 400
