"""Links found by the token scanner, against the trees of lexbor and html5lib, over installed documentation.

Run as `python -m benchmarks.links [--quick] [--json]`. Reports, per tree of pages, how many differ and how,
and what a page costs. Pages come from `benchmarks.docs_site`; html5lib, being slow, sees every hundredth page
(all with `--slow`). The reading of a tree here is written apart from the package's own, so that one checks
the other.
"""

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import ada_url
import html5lib
import msgspec
from selectolax.lexbor import LexborHTMLParser

from benchmarks.docs_site import QUICK, TREES, Tree, chosen
from benchmarks.page_links import MAX_DEPTH, tag_depth
from gossamer.extract.config import ExtractConfig
from gossamer.extract.encodings.charset import charset_of, codec_of
from gossamer.extract.html.document import HtmlExtractor
from gossamer.extract.links import LinkMaker
from gossamer.extract.relations import kind_of_relation
from gossamer.model.document import Document
from gossamer.model.exchange import Headers
from gossamer.model.url import Url

Attributes = dict[str, str]
Found = tuple[str, str]
"""URL and element."""

TYPICAL = (30_000, 45_000)
"""Bytes of the pages that costs are measured on."""
SCHEMES = ("http://", "https://", "ftp://", "file://")
REQUISITE = {
    "img": ("src",),
    "image": ("src",),
    "script": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "audio": ("src",),
    "video": ("src", "poster"),
    "source": ("src",),
    "track": ("src",),
    "body": ("background",),
    "frame": ("src",),
    "iframe": ("src",),
    "table": ("background",),
    "td": ("background",),
    "th": ("background",),
    "tr": ("background",),
    "link": ("href",),
    "form": ("action",),
}
IN_SVG = {"image", "use", "feimage"}
USER = re.compile(r"^(\w+://)[^/]*@")
NO_FETCH = {"dns-prefetch", "preconnect", "pingback"}


class Difference(msgspec.Struct):
    """A page on which the two disagree."""

    page: str
    missing: list[str]
    extra: list[str]


class Report(msgspec.Struct):
    """One tree of pages."""

    name: str
    pages: int = 0
    links: int = 0
    against_lexbor: list[Difference] = []
    html5lib_pages: int = 0
    against_html5lib: list[Difference] = []
    titles_differ: list[str] = []
    too_deep: int = 0
    cpu_us_per_typical_page: float = 0.0
    typical_pages: int = 0


def lexbor_elements(content: str) -> Iterator[tuple[str, Attributes, str]]:
    """(name, attributes, text of title and style) in document order."""
    root = LexborHTMLParser(content).root
    if root is None:
        return
    for node in root.traverse():
        name = node.tag or ""
        text = node.text(deep=True) if name in ("style", "title") else ""
        yield name, {key: value or "" for key, value in node.attributes.items()}, text


def html5lib_elements(content: str) -> Iterator[tuple[str, Attributes, str]]:
    """The same from html5lib."""
    tree = html5lib.parse(content, treebuilder="etree", namespaceHTMLElements=False)
    for element in tree.iter():
        if isinstance(element.tag, str):
            name = element.tag.rpartition("}")[2]
            attributes = {
                key.replace("{http://www.w3.org/1999/xlink}", "xlink:"): value
                for key, value in element.items()
            }
            yield name, attributes, element.text or ""


def read(elements: Iterable[tuple[str, Attributes, str]], url: str) -> tuple[set[Found], str]:
    """Links and title of a tree, as the WHATWG standard reads it, told in the plainest way."""
    raw: list[tuple[str, str]] = []
    base = title = None
    for tag, attributes, text in elements:
        name = tag.lower()
        if name == "base" and base is None and "href" in attributes:
            base = attributes["href"]
        if name == "title" and title is None:
            title = " ".join(text.split())
        raw += _addresses(name, attributes, text)
    try:
        base = ada_url.join_url(url, base) if base is not None else url
    except ValueError:
        base = url
    found = set()
    for element, address in raw:
        try:
            joined = ada_url.join_url(base, address).partition("#")[0]
            joined = USER.sub(r"\1", joined)  # a URL never carries user information on
        except ValueError:
            continue
        if joined.startswith(SCHEMES):
            found.add((joined, element))
    return found, title or ""


def _addresses(name: str, attributes: Attributes, text: str) -> Iterator[tuple[str, str]]:
    if name in ("a", "area"):
        for key in ("href", "xlink:href"):
            if key in attributes:
                yield f"{name}@{key}", attributes[key]
                break
    elif name == "meta" and attributes.get("http-equiv", "").lower() == "refresh":
        match = re.match(r"[\s\d.]+[;,\s]\s*(?:url\s*=\s*)?(.*)", attributes.get("content", ""), re.I | re.S)
        if match and match[1]:
            yield "meta@content", match[1].strip("'\" ")
    elif name == "input" and attributes.get("type", "").lower() == "image" and attributes.get("src"):
        yield "input@src", attributes["src"]
    for key in REQUISITE.get(name, ()):
        if (name, key) == ("link", "href") and not _fetched(attributes.get("rel", "")):
            continue
        if (name, key) == ("form", "action") and attributes.get("method", "").lower() in ("post", "dialog"):
            continue
        if attributes.get(key, "").strip():
            yield ("img" if name == "image" else name) + "@" + key, attributes[key]
    if name in IN_SVG:
        for key in ("href", "xlink:href"):
            if attributes.get(key):
                yield f"{name}@{key}", attributes[key]
    if name in ("img", "source") and "srcset" in attributes:
        for part in attributes["srcset"].split(","):
            if part.split():
                yield f"{name}@srcset", part.split()[0]
    styles = attributes.get("style", "") + (text if name == "style" else "")
    styles = re.sub(r"/\*.*?\*/", "", styles, flags=re.S)
    for match in re.finditer(r"url\(\s*[\"']?(.*?)[\"']?\s*\)|@import\s*[\"'](.*?)[\"']", styles, re.I):
        if match[1] or match[2]:
            yield "css", match[1] or match[2]


def _fetched(rel: str) -> bool:
    words = set(rel.lower().split())
    return bool(words) and not words & NO_FETCH and kind_of_relation(rel) is not None


class Comparison:
    """Reads pages both ways."""

    def __init__(self) -> None:
        config = ExtractConfig()
        self._extractor = HtmlExtractor(config, LinkMaker(config))

    def document(self, content: bytes, url: str) -> Document:
        """The page as the reader would hand it out."""
        parsed = Url.parse(url)
        assert parsed is not None
        return Document(parsed, "text/html", charset_of(content, "", "text/html"), Headers([]), content)

    def ours(self, document: Document) -> tuple[set[Found], str]:
        """Links and title by the scanner."""
        findings = self._extractor.extract(document)
        found = {(link.url.text, link.element.replace("image@src", "img@src")) for link in findings.links}
        return found, findings.title

    def compare(self, tree: Tree, every: int, slow: bool) -> Report:
        """Read each page of a tree."""
        report = Report(tree.name)
        typical: list[Document] = []
        for number, path in enumerate(pages_of(tree.root)):
            if number % every:
                continue
            content = path.read_bytes()
            relative = str(path.relative_to(tree.root))
            url = ada_url.join_url(
                f"http://{tree.name}.test/",
                relative.replace("%", "%25").replace("?", "%3F").replace("#", "%23"),
            )
            document = self.document(content, url)
            found, title = self.ours(document)
            report.pages += 1
            report.links += len(found)
            if TYPICAL[0] <= len(content) <= TYPICAL[1] and len(typical) < 200:
                typical.append(document)
            text = content.decode(codec_of(document.charset), "replace")
            if tag_depth(content) <= MAX_DEPTH:
                wanted, wanted_title = read(lexbor_elements(text), url)
                _note(report.against_lexbor, relative, found, wanted)
                if title != wanted_title[:1000]:
                    report.titles_differ.append(relative)
            else:
                report.too_deep += 1
            if slow or number % (100 * every) == 0:
                report.html5lib_pages += 1
                wanted, _ = read(html5lib_elements(text), url)
                _note(report.against_html5lib, relative, found, wanted)
        report.typical_pages = len(typical)
        report.cpu_us_per_typical_page = self.cost(typical)
        return report

    def cost(self, documents: list[Document]) -> float:
        """CPU microseconds a page, the best of five rounds over all, so with warm memos."""
        if not documents:
            return 0.0
        best = float("inf")
        for _ in range(5):
            start = time.process_time()
            for document in documents:
                self._extractor.extract(document)
            best = min(best, time.process_time() - start)
        return round(best / len(documents) * 1e6, 1)


def _note(into: list[Difference], page: str, found: set[Found], wanted: set[Found]) -> None:
    # One URL may be mentioned by several elements; the scanner keeps the first of each kind.
    urls, wanted_urls = {url for url, _ in found}, {url for url, _ in wanted}
    missing = sorted(wanted_urls - urls)
    extra = sorted(urls - wanted_urls)
    if missing or extra:
        names = dict(found | wanted)
        into.append(
            Difference(page, [f"{names[u]} {u}" for u in missing], [f"{names[u]} {u}" for u in extra])
        )


def pages_of(root: Path) -> Iterator[Path]:
    """Every HTML file below `root`, in order, links to files elsewhere included."""
    for path in sorted(root.rglob("*")):
        name = path.name
        if (name.endswith((".html", ".htm", ".xhtml")) or ".html." in name) and path.is_file():
            yield path


def main(arguments: list[str] | None = None) -> int:
    """Compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small trees, every tenth page")
    parser.add_argument("--slow", action="store_true", help="html5lib reads every page")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--tree", action="append", choices=[tree.name for tree in TREES])
    options = parser.parse_args(arguments)
    trees = chosen(options.tree or (QUICK if options.quick else None))
    reports = []
    for tree in trees:
        report = Comparison().compare(tree, 10 if options.quick else 1, options.slow)
        reports.append(report)
        if not options.json:
            _print(report)
    if options.json:
        json.dump({"trees": msgspec.to_builtins(reports)}, sys.stdout)
        print()
    elif not trees:
        print("no documentation is installed; see python -m benchmarks.docs_site --install")
    return 0


def _print(report: Report) -> None:
    print(
        f"{report.name}: {report.pages} pages, {report.links} links; differ from lexbor "
        f"{len(report.against_lexbor)}, from html5lib "
        f"{len(report.against_html5lib)} of {report.html5lib_pages}; "
        f"titles {len(report.titles_differ)}; too deep {report.too_deep}; "
        f"{report.cpu_us_per_typical_page} us a page ({report.typical_pages} of 30-45 KB)"
    )
    for name, differences in (("lexbor", report.against_lexbor), ("html5lib", report.against_html5lib)):
        counts = Counter((len(d.missing), len(d.extra)) for d in differences)
        for difference in differences[:5]:
            print(
                f"  {name} {difference.page}: missing {difference.missing[:3]} extra {difference.extra[:3]}"
            )
        if len(differences) > 5:
            print(f"  {name}: (missing, extra) x pages: {dict(counts.most_common(5))}")
    for page in report.titles_differ[:3]:
        print(f"  title differs: {page}")


if __name__ == "__main__":
    sys.exit(main())
