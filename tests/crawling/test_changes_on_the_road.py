"""What a crawl that visits again takes for a change: content is one, clocks and rotating boxes are not."""

import random
import time

import pytest
from test_visited_again import Pages, assert_sound, end, records, start, until

from gossamer.inspect.archive.lookup import captures_of
from gossamer.inspect.compare.captures import compare_pair, with_content
from gossamer.inspect.inspection import inspect
from gossamer.model.url import Url
from gossamer.policy.change.volatile import MOST_BYTES, Volatile
from gossamer.policy.revisit.history import unpack
from gossamer.state.environment import Family
from gossamer.state.records import decode_host

NAMES = ["", *"abcdef"]
SAYINGS = [
    f"{one} like {other}."
    for one in ("Cats", "Dogs", "Hens")
    for other in ("mice", "men", "owls", "bees", "ants")
]


class Noisy(Pages):
    """Each answer has a clock, a token, a box that rotates and other markup."""

    def text(self, name, version):
        seen = len(self.visits_unlocked(name))
        draw = random.Random(f"{name} {seen}")
        stories = "".join(
            f"<p>Story {story} about {name or 'home'}, told in a few words.</p>" for story in "xyz"
        )
        links = "".join(f"<a href=/{other}>{other}</a> " for other in self.versions) if not name else ""
        return (
            f"<title>{name}</title><script>let n={seen}</script><h1>All of {name or 'home'}</h1>{stories}"
            f"<div data-n='{seen}'>It is {['red', 'green', 'blue', 'pink'][version]} now</div>{links}"
            f"<h3>Related</h3><ul>{''.join(f'<li>{one}</li>' for one in draw.sample(SAYINGS, 3))}</ul>"
            f"<footer>Rendered at 12:{seen * 7 % 60:02}:{seen * 11 % 60:02},"
            f" request {draw.getrandbits(64):016x}</footer>"
        )

    def visits_unlocked(self, name):
        return [each for each in self.served if each[0] == name]


@pytest.mark.slow
def test_noise_is_no_change_and_content_is_one(tmp_path):
    folder, origin = tmp_path / "crawl", time.time()
    with Noisy(NAMES, etag=False) as pages:
        process = start(pages, folder, origin=origin, settings=["revisit.visits=60"])
        until(lambda: all(len(pages.visits(name)) >= 6 for name in NAMES), process)
        end(process)
        assert_sound(folder)
        before, _ = records(folder)
        learned = {name: unpack(before[name].history) for name in NAMES}
        pages.versions["a"] = pages.versions["d"] = 1
        process = start(pages, folder, origin=origin, resume=True, settings=["revisit.visits=60"])
        seen = {name: len(pages.visits(name)) for name in NAMES}
        until(lambda: all(len(pages.visits(name)) >= seen[name] + 3 for name in NAMES), process)
        end(process)
        assert_sound(folder)
        after, sums = records(folder)
        changes = {name: unpack(after[name].history).changed - learned[name].changed for name in NAMES}
        assert changes == {name: int(name in ("a", "d")) for name in NAMES}
        # Until it knew, a few visits seemed to have changed; of the pages of a site not each has to learn anew.
        assert sum(one.changed for one in learned.values()) <= 2 + len(NAMES)
        assert sums.same_text >= 3 * len(NAMES)
        with inspect(folder) as inspection:
            hosts = [decode_host(data) for _, data in inspection.environment.scan(Family.HOSTS)]
        (volatile,) = [host.volatile for host in hosts if host.volatile]
        assert len(volatile) <= MOST_BYTES
        assert Volatile.unpack(volatile)
        with inspect(folder) as inspection:
            url = Url.from_serialised(f"{pages.site.address}a")
            captures = with_content(captures_of(inspection, url))
            told = compare_pair(inspection, captures, (captures[0], captures[-1]))
        rows = [row for passage in told.passages for row in passage.rows if row.kind != "same"]
        assert [row.kind for row in rows] == ["changed"]
        assert "".join(span.text for span in rows[0].new) == "It is green now"
