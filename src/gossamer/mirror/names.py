"""Where a document lies in a mirror.

A name tells a browser, which sees no headers on a disk, what a file is; and it tells a server nothing that would
make it run the file.
"""

import hashlib
import re
from urllib.parse import quote

from gossamer.datasets.export.file_names import EXTENSIONS, component, name_of, prove_rule, unquoted
from gossamer.model.errors import ConfigError
from gossamer.model.url import DEFAULT_PORTS, Url

__all__ = ["FIELDS", "USUAL", "address_of", "prove_names", "wanted_name"]

FIELDS = ("host", "folder", "stem", "query", "ext", "digest")
USUAL = "{host}/{folder}/{stem}{query}.{ext}"
INDEX = "index"
"""Stem of a page whose address is that of a folder, as servers of files have it."""
_LONGEST_QUERY = 80
_LONGEST_NAME = 240
"""Bytes of a name with its folders: some systems take 260 characters, with the folder that the mirror lies in."""

_TYPES = EXTENSIONS | {"application/xhtml+xml": "xhtml", "text/xml": "xml"}
_SAME = {
    "html": "htm", "xhtml": "xht", "jpg": "jpeg jpe jfif", "js": "mjs cjs", "svg": "svg", "mp4": "m4v",
    "txt": "text md csv tsv log json js mjs css", "xml": "rss atom rdf xsl xslt", "json": "webmanifest map jsonld",
    "tiff": "tif", "mp3": "mpga", "ogg": "oga ogv", "gz": "tgz", "bin": "*",
}  # fmt: skip
"""Extensions of a URL that do as well as that of its media type. What is no more than bytes keeps any."""
_KNOWN = frozenset(_TYPES.values()) | {each for several in _SAME.values() for each in several.split()}
_OWN = re.compile(r"[A-Za-z0-9]{1,12}")
_RUN = re.compile(
    r"\.(?=(?:php\d?|phtml|phar|phps|pht|inc|cgi|fcgi|pl|py|rb|sh|asp|aspx|ashx|asmx|jsp|jspx|shtml|shtm|stm|cfm"
    r"|config|htaccess)(?:\.|$))",
    re.IGNORECASE,
)
"""Before an extension, also one in the middle, for which servers are set up to run a file and not to send it."""
_AS_IT_IS = "/@=+!"
"""Beside letters, digits, and `-._~`: what no attribute, style sheet or list of pictures takes for its own."""


def prove_names(rule: str) -> None:
    """Refuse a rule that cannot be followed.

    Raises:
        ConfigError: it names no field, one that there is not, or ends without the extension.
    """
    prove_rule(rule, FIELDS)
    if not rule.endswith(".{ext}"):
        raise ConfigError(f"--names {rule!r}: must end in .{{ext}}, by which browsers know what a file is")


def wanted_name(rule: str, url: Url, media_type: str) -> str:
    """The name that `rule` gives; two documents may get the same.

    Args:
        rule: proven.
        url: of the document.
        media_type: essence.
    """
    *folders, last = [unquoted(segment) for segment in url.path.split("/")]
    stem, ext = _stem(last, media_type)
    port = "" if url.port == DEFAULT_PORTS[url.scheme] else f"_{url.port}"
    digest = hashlib.sha256(url.text.encode()).hexdigest()
    fields = {
        "host": f"{url.host.strip('[]').replace(':', '-')}{port}" if url.host else url.scheme,
        "folder": "/".join(component(_inert(folder)) for folder in folders if folder),
        "stem": _inert(stem),
        "query": _query(url, digest),
        "ext": ext,
        "digest": digest[:16],
    }
    return name_of(rule, fields, _LONGEST_NAME)


def _stem(last: str, media_type: str) -> tuple[str, str]:
    """Stem and extension: the URL's own, if browsers take it for the same."""
    if not last:
        last = INDEX
    usual = _TYPES.get(media_type, "")
    stem, dot, own = last.rpartition(".")
    if not (dot and stem and _OWN.fullmatch(own)):
        return last, usual or "bin"
    lower = own.lower()
    same = _SAME.get(usual or "bin", "")
    if lower == usual or lower in same.split():
        return stem, own
    if same == "*" or (usual == "txt" and lower not in _KNOWN):
        # Nobody knows better; but what is no page must not be shown as one.
        return (stem, own) if lower not in ("html", "htm", "xhtml", "xht", "svg") else (last, usual or "bin")
    return last, usual


def _inert(text: str) -> str:
    return _RUN.sub("_", text)


def _query(url: Url, digest: str) -> str:
    if "?" not in url.target:
        return ""
    query = _inert(unquoted(url.query).replace("+", " "))
    if len(query.encode()) > _LONGEST_QUERY:
        query = query.encode()[: _LONGEST_QUERY - 20].decode("utf-8", "ignore") + f"~{digest[:8]}"
    return f"@{query}"


def address_of(file: str, start: str = "") -> str:
    """How a file is linked to from the file `start`, both by their names in the mirror."""
    here, there = start.split("/")[:-1], file.split("/")
    same = 0
    while same < min(len(here), len(there) - 1) and here[same] == there[same]:
        same += 1
    relative = "../" * (len(here) - same) + "/".join(there[same:])
    return quote(relative, safe=_AS_IT_IS)
