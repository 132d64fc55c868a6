"""Real PDF files, office files and books: is what is read of them what a second tool reads?

`python -m benchmarks.documents_files FOLDER... [--json] [--most N]`. Needs `pdftotext` (poppler-utils) and
`pypdf`; for text and links of the packed formats the second reader is plain: unzip, parse with ElementTree,
take all text and all addresses. Debian's documentation packages hold such files (`--packages` prints some;
fetch them with `apt-get download`, unpack with `dpkg -x`).

Files are compared by content, so copies count once. `text_f1`: of words as multisets. `links_found`: of the
second tool's link annotations or hyperlink elements that lead out by http, how many are found here; addresses
that stand in the text come on top. Times are CPU; that of pdftotext is its process's.
"""

import argparse
import hashlib
import json
import re
import resource
import subprocess
import time
import zipfile
from collections import defaultdict
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from benchmarks.extraction_pages import score
from gossamer.documents.kinds import Format, format_of
from gossamer.documents.reading import read

PACKAGES = (
    "live-manual-pdf live-manual-odf live-manual-epub debian-history debmake-doc toppic-common "
    "r-cran-officer finalcif r-cran-openxlsx xlsx2csv r-cran-readxl calligrawords-data jfractionlab "
    "python3-relatorio whitedune-docs libreoffice-dev-doc libreoffice-dmaths libreoffice-help-ca simrisc "
    "tiatracker faust-common dynare calibre maint-guide maint-guide-de maint-guide-ja maint-guide-zh-cn "
    "erlang-doc lilypond-doc-pdf therion-doc r-cran-survival r-cran-hsaur3 simh r-doc-pdf "
    "texlive-lang-italian texlive-lang-korean texlive-lang-japanese"
)
SUFFIXES = ["pdf", "docx", "pptx", "xlsx", "odt", "odp", "ods", "epub"]
_HTTP = re.compile(r"https?://", re.IGNORECASE)
_FLOWS = r"word/(document|footnotes|endnotes|comments)\.xml|ppt/slides/slide\d+\.xml|ppt/notesSlides/.*\.xml"
_VERY_LONG = 64 << 20


def files_in(folders: list[Path], most: int) -> list[Path]:
    """Different files by format and name, at most so many of each."""
    seen: set[bytes] = set()
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(each for folder in folders for each in folder.rglob("*")):
        suffix = path.suffix[1:].lower()
        if suffix in SUFFIXES and path.is_file() and not path.is_symlink() and len(found[suffix]) < most:
            if path.stat().st_size > _VERY_LONG:
                continue
            digest = hashlib.sha256(path.read_bytes()).digest()
            if digest not in seen:
                seen.add(digest)
                found[suffix].append(path)
    return [path for paths in found.values() for path in paths]


def by_poppler(path: Path) -> tuple[str, float]:
    """Text of a PDF and the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["pdftotext", "-q", "-enc", "UTF-8", str(path), "-"], capture_output=True, timeout=300, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout.decode("utf-8", "replace"), spent


def links_by_pypdf(path: Path) -> set[str]:
    """Addresses of the link annotations of a PDF."""
    from pypdf import PdfReader

    found = set()
    for page in PdfReader(path).pages:
        for note in page.get("/Annots") or ():
            action = note.get_object().get("/A")
            address = action.get_object().get("/URI") if action else None
            if address is not None:
                found.add(str(address.decode("utf-8", "replace") if isinstance(address, bytes) else address))
    return found


def by_unzipping(path: Path, suffix: str) -> tuple[str, set[str]]:
    """All text and all addresses of a packed document, without knowing much about it."""
    texts, links = [], set()
    with zipfile.ZipFile(path) as archive:
        shared: list[str] = []
        for name in archive.namelist():
            if suffix == "xlsx" and name == "xl/sharedStrings.xml":
                root = ElementTree.fromstring(archive.read(name))
                shared = ["".join(t.text or "" for t in si.iter() if t.tag.endswith("}t")) for si in root]
        for name in archive.namelist():
            source = archive.read(name)
            if name == "xl/workbook.xml":
                texts += [
                    e.get("name", "")
                    for e in ElementTree.fromstring(source).iter()
                    if e.tag.endswith("}sheet")
                ]
            if name.endswith(".rels"):
                for relation in ElementTree.fromstring(source):
                    if relation.get("TargetMode") == "External" and relation.get("Type", "").endswith(
                        "/hyperlink"
                    ):
                        links.add(relation.get("Target", ""))
            elif suffix in ("docx", "pptx") and re.fullmatch(_FLOWS, name):
                paragraphs = (e for e in ElementTree.fromstring(source).iter() if e.tag.endswith("}p"))
                texts += ["".join(e.text or "" for e in p.iter() if e.tag.endswith("}t")) for p in paragraphs]
            elif suffix == "xlsx" and re.fullmatch(r"xl/worksheets/sheet\d*\.xml", name):
                for cell in (e for e in ElementTree.fromstring(source).iter() if e.tag.endswith("}c")):
                    value = next((e.text or "" for e in cell if e.tag.endswith("}v")), "")
                    inline = "".join(e.text or "" for e in cell.iter() if e.tag.endswith("}t"))
                    texts.append(shared[int(value)] if cell.get("t") == "s" and value else inline or value)
            elif suffix in ("odt", "odp", "ods") and name == "content.xml":
                root = ElementTree.fromstring(source)
                for element in root.iter():
                    if element.tag.endswith(("}p", "}h")):
                        texts.append("".join(element.itertext()))
                    links |= {
                        v
                        for k, v in element.attrib.items()
                        if k.endswith("}href") and element.tag.endswith("}a")
                    }
            elif suffix == "epub" and name.endswith((".xhtml", ".html", ".htm")):
                page = source.decode("utf-8", "replace")
                links |= {unescape(each) for each in re.findall(r'<a\s[^>]*href="([^"]+)"', page)}
                body = re.sub(r"<(script|style|head)\b.*?</\1>", " ", page, flags=re.DOTALL)
                texts.append(unescape(re.sub(r"<[^>]+>", " ", body)))
    return "\n".join(texts), links


def compare(path: Path) -> dict[str, Any] | None:
    """Figures of one file; nothing if the second tool cannot read it."""
    suffix = path.suffix[1:].lower()
    started = time.process_time()
    said = read(path, "https://site.test/" + path.name)
    spent = time.process_time() - started
    try:
        if suffix == "pdf":
            text, their_time = by_poppler(path)
            links = links_by_pypdf(path)
        else:
            started = time.process_time()
            text, links = by_unzipping(path, suffix)
            their_time = time.process_time() - started
    except Exception as error:  # noqa: BLE001 (whatever the second tool cannot read is listed)
        return {
            "file": path.name,
            "suffix": suffix,
            "unread": f"{type(error).__name__}: {error}"[:200],
            "marks": list(said.marks),
        }
    wanted = {_key(each) for each in links if _HTTP.match(each.strip())}
    have = {_key(link.url) for link in said.links}
    return {
        "file": path.name,
        "suffix": suffix,
        "kind": said.media_type,
        "right_kind": format_of(said.media_type)
        in (Format.PDF, Format.WORD, Format.SLIDES, Format.SHEET, Format.ODF, Format.EPUB),
        "text_f1": score(said.text.text, text).f1,
        "words": len(text.split()),
        "links": len(wanted),
        "links_found": len(wanted & have),
        "missing": sorted(wanted - have)[:5],
        "ms": 1e3 * spent,
        "their_ms": 1e3 * their_time,
        "marks": list(said.marks),
    }


def _key(address: str) -> str:
    return re.sub(r"[^a-z0-9]", "", re.sub(r"%[0-9a-f]{2}", "", address.strip().lower()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--most", type=int, default=150, help="files of a format")
    parser.add_argument("--packages", action="store_true", help="print Debian packages that hold such files")
    options = parser.parse_args()
    if options.packages:
        print(PACKAGES)
        return
    results = [found for path in files_in(options.folders, options.most) if (found := compare(path))]
    figures: dict[str, Any] = {"files": len(results), "formats": {}}
    for suffix in SUFFIXES:
        own = [each for each in results if each["suffix"] == suffix and "unread" not in each]
        if not own:
            continue
        f1 = np.array([each["text_f1"] for each in own if each["words"]])
        links = sum(each["links"] for each in own)
        figures["formats"][suffix] = {
            "files": len(own),
            "text_f1_mean": round(float(f1.mean()), 4) if len(f1) else None,
            "text_f1_median": round(float(np.median(f1)), 4) if len(f1) else None,
            "text_f1_below_0.9": int((f1 < 0.9).sum()),
            "links": links,
            "links_found": sum(each["links_found"] for each in own),
            "ms_per_file": round(float(np.mean([each["ms"] for each in own])), 1),
            "their_ms_per_file": round(float(np.mean([each["their_ms"] for each in own])), 1),
            "marked": sum(bool(each["marks"]) for each in own),
        }
    figures["unread_by_second_tool"] = [each for each in results if "unread" in each]
    figures["worst"] = sorted(
        (each for each in results if each.get("words")), key=lambda each: each["text_f1"]
    )[:15]
    figures["links_missing"] = [(each["file"], each["missing"]) for each in results if each.get("missing")][
        :15
    ]
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    print(figures["files"], "files")
    for suffix, each in figures["formats"].items():
        print(suffix, each)
    for each in figures["worst"]:
        print(each["file"], round(each["text_f1"], 3), each["marks"])


if __name__ == "__main__":
    main()
