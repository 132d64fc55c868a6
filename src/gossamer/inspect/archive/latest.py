"""Tells the last capture of a page that has content from earlier ones, whose links are history."""

from gossamer.inspect.archive.captures import Capture, seconds_of
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.state.records import PageRecord

__all__ = ["Latest"]

_SAME = 1e-6
"""Seconds by which times of one record may differ."""


class Latest:
    """Whether a capture is the last of its page that has content, by what one crawl remembers."""

    def __init__(self, crawl: Inspection) -> None:
        prints = fingerprints_of(crawl.environment)
        self._places = None if prints is None else UrlPlaces(crawl.environment, prints, crawl.config)

    def __call__(self, capture: Capture) -> bool:
        """What earlier captures mentioned is history."""
        record = self.record(capture)
        if record is None or record.visits_made < 2 or not record.captured:
            return True
        return abs(seconds_of(record.captured) - capture.exchange.started) < _SAME

    def record(self, capture: Capture) -> PageRecord | None:
        """What is remembered of the page, if anything is."""
        if self._places is None:
            return None
        return self._places.record(self._places.fingerprint(capture.exchange.url))
