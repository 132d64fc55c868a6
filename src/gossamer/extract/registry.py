"""Which extractors read which media types."""

from collections.abc import Sequence

from gossamer.extract.config import ExtractConfig
from gossamer.extract.css import CssExtractor
from gossamer.extract.feeds.feed import FeedExtractor
from gossamer.extract.feeds.sitemap import SitemapExtractor
from gossamer.extract.html.document import HtmlExtractor
from gossamer.extract.links import LinkMaker
from gossamer.ports import Extractor

__all__ = ["Registry", "builtin_extractors"]


def builtin_extractors(config: ExtractConfig) -> list[Extractor]:
    """The extractors that come with the program, less those switched off."""
    links = LinkMaker(config)
    every: list[Extractor] = [
        HtmlExtractor(config, links),
        CssExtractor(config, links),
        SitemapExtractor(config, links),
        FeedExtractor(config, links),
    ]
    return [extractor for extractor in every if extractor.name not in config.extractors_off]


class Registry:
    """Extractors by media type, in the order given."""

    def __init__(self, extractors: Sequence[Extractor]) -> None:
        self._by_type: dict[str, list[Extractor]] = {}
        wide = {kind for extractor in extractors for kind in extractor.media_types}
        for kind in wide:
            general = {kind, kind.partition("/")[0] + "/*", "*/*"}
            self._by_type[kind] = [one for one in extractors if one.media_types & general]

    def readers_of(self, media_type: str) -> Sequence[Extractor]:
        """Extractors that read documents of this type; none for a leaf."""
        known = self._by_type.get(media_type)
        if known is None:
            known = self._by_type.get(media_type.partition("/")[0] + "/*")
        return self._by_type.get("*/*", ()) if known is None else known
