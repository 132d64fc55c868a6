"""Generalises URLs to patterns: what a site's addresses have in common when names and numbers are left out.

A path keeps the names of its first two folders. All other names become a class:

    #   digits                      `/product/17` is `/product/#`
    D   a date, also over several   `/blog/2024/03/17/snow` is `/blog/D/*`
        segments
    H   a hash, a UUID, a token     `/paper/9f86d081884c7d65` is `/paper/H`
    *   any other name              `/docs/guide/install.html` is `/docs/guide/*.html`

A folder met again on the way down makes a cycle: `/a/current/a/current/x` is `/(a/current)+/*`. Of a query
the names stand, sorted and each once, with the classes of their values: `/list?page=#&sort=*`; parameters
inside the path (`;jsessionid=H`) likewise.

So that a site has a bounded number of patterns whatever it does, names of folders deeper than the second
are a class as well, paths of more than six folders are cut (`**`), and queries of more than eight names.
The *stem* is coarser yet: it says which trap a pattern would belong to.

Time is linear in the URL: each segment is looked at a constant number of times, and no expression here
can match in two ways.
"""

import re
from functools import lru_cache
from typing import NamedTuple

DATE = 1
"""The path or query holds a date."""
CYCLE = 2
"""A folder stands in the path twice."""
CYCLES = 4
"""Folders stand in the path again more than once."""
SESSION = 8
"""A parameter looks like the id of a session."""
FACETS = 16
"""Three or more parameters."""
DEEP = 32
"""More than six folders."""
NUMBERS = 64
"""Some part is a number, or a name with one: there is always a next one."""
TOKEN = 128
"""The page's own name is a hash, a UUID, a token: there is always another one."""

MINTED = 256
"""A folder is named by a token, such as the id of a session."""

ODD = DATE | CYCLE | CYCLES | SESSION | FACETS | DEEP
"""Doubts that most good pages do not raise."""
REPEATS = SESSION | CYCLE | CYCLES
"""There is a `plainer` address."""

_NAMED = 2  # folders whose names are kept
_DEEPEST = 6
_MOST_NAMES = 8
_LONGEST_BLOCK = 4
_LONGEST_NAME = 24
_LONGEST_WORD = 20
_TOKEN = 16
_SWITCHES = 4

_SESSION_NAMES = frozenset(
    [
        *("jsessionid", "phpsessid", "aspsessionid", "sessionid", "session_id", "session", "sid", "s_id"),
        *("cfid", "cftoken", "zenid", "oscsid"),
    ]
)
_DASHED_DATE = re.compile(r"(?:19|20)\d\d[-_.](?:0?[1-9]|1[0-2])(?:[-_.](?:0?[1-9]|[12]\d|3[01]))?")
_DAY_NUMBER = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_HEX = re.compile(r"[0-9a-fA-F]+(?:-[0-9a-fA-F]+)*")
_SWITCH = re.compile(r"\d[A-Za-z]|[A-Za-z]\d")
_DIGITS = re.compile(r"\d+")


class UrlPattern(NamedTuple):
    """What one URL looks like.

    Attributes:
        text: the pattern, of path and query without the host.
        stem: coarser pattern; all views of one calendar, all pages that carry one kind of session id.
        doubts: bits of `DATE`, `CYCLE`, `CYCLES`, `SESSION`, `FACETS`, `DEEP`, `NUMBERS`, `TOKEN`, `MINTED`;
            where there is none, there are only names, and somebody must have chosen each.
    """

    text: str
    stem: str
    doubts: int


class _Folder(NamedTuple):
    """A directory part of a path, as its pattern.

    Attributes:
        text: from slash to slash.
        stem: without what is to come.
        below: the stem of the pages in it.
        doubts: as for `UrlPattern`.
        dated: how many more numbers would belong to the date that it ends in.
    """

    text: str
    stem: str
    below: str
    doubts: int
    dated: int


def url_pattern(target: str) -> UrlPattern:
    """The pattern of a URL's target (path with query, as `Url.target`)."""
    if "?" not in target and ";" not in target:
        directory, _, leaf = target.rpartition("/")
        name = _leaf(leaf) if leaf else ""
        if name[:1] == "*":  # most pages; what is below would say the same
            folder = _folder(directory)
            text = folder.text + name
            return UrlPattern(text, folder.below, folder.doubts | NUMBERS if "#" in text else folder.doubts)
    text, stem, doubts = _pattern(target)
    return UrlPattern(text, stem, doubts | NUMBERS if "#" in text else doubts)


def template(target: str) -> str:
    """The target with every number left out: what differs only by numbers has the same."""
    return _DIGITS.sub("#", target)


def plainer(target: str) -> str | None:
    """The address under which the same is to be expected: without cycles in the path, without session ids.

    `None` if the target has neither. Only a guess: whether anything is there has to be known otherwise.
    """
    path, mark, query = target.partition("?")
    directory, _, leaf = path.rpartition("/")
    name, *matrix = leaf.split(";")
    kept = [piece for piece in matrix if not _parameter(piece)[1]]
    plain = ";".join([name, *kept])
    names = directory.split("/")[1:]
    if len(set(names)) < len(names):
        names = _without_cycles(names)[0]
    plain = "".join(f"/{folder}" for folder in names) + "/" + plain
    if mark:
        pieces = query.split("&")
        left = [piece for piece in pieces if not _parameter(piece)[1]]
        plain += mark + "&".join(left) if left else ""
    return None if plain == target else plain


def marches(page: "UrlPattern", link: "UrlPattern", page_target: str, link_target: str) -> bool:
    """Whether a link goes one step further in what a page is part of, as it would in a space without end.

    Both have one stem. A date leads to another date, an id of a session to another id, filters to more
    filters; a deep folder leads to a deeper one, one named by a token to another token; where nothing is odd
    but numbers, only the number differs, or a number in a query of the same names (the views of a calendar).
    """
    common = page.doubts & link.doubts
    if common & (ODD & ~DEEP | TOKEN):
        return True
    if common & MINTED and _minted(page_target) != _minted(link_target):
        return True
    if common & DEEP:
        return link_target.count("/") > page_target.count("/")
    if not common & NUMBERS:
        return False
    return template(page_target) == template(link_target) or (
        page.text == link.text and _counts_on(page_target, link_target)
    )


def _minted(target: str) -> list[str]:
    """The folders that are tokens."""
    return [name for name in target.partition("?")[0].split("/")[:-1] if is_token(name.partition(";")[0])]


def _counts_on(target: str, other: str) -> bool:
    """Whether two targets of one path have other numbers in their queries."""
    path, _, query = target.partition("?")
    there, _, other_query = other.partition("?")
    return path == there and _numbers(query) != _numbers(other_query)


def _numbers(query: str) -> set[str]:
    return {parameter for parameter in query.split("&") if parameter.rpartition("=")[2].isdigit()}


def _pattern(target: str) -> tuple[str, str, int]:
    """The three parts of `url_pattern`, but for `NUMBERS`."""
    path, mark, query = target.partition("?")
    directory, _, leaf = path.rpartition("/")
    if not leaf and directory:  # the last folder is what the page is named by
        directory, _, leaf = directory.rpartition("/")
        slash = "/"
    else:
        slash = ""
    folder = _folder(directory)
    doubts = folder.doubts
    text, stem = folder.text, folder.stem
    if leaf:
        leaf, _, matrix = leaf.partition(";")
        if mark and not slash:
            name = leaf if len(leaf) <= _LONGEST_NAME and leaf.count("-") < 2 else "*"
        elif slash and not directory and mark:
            name, stem = leaf, f"/{leaf}"
        else:
            name = _leaf(leaf)
        plain = name == leaf
        if name == "D" and not plain:
            doubts |= DATE
        elif (name == "H" or name.startswith("H.")) and not plain:
            doubts |= TOKEN
        elif folder.dated and name == "#" and len(leaf) <= 2:
            name, text = "", text[:-1]
        text = f"{text}{name}{slash}"
        if matrix:
            parameters, session = _parameters(matrix.replace(";", "&"))
            text = f"{text};{parameters}"
            if session:
                return (_with_query(text, query), f"**;{session}", doubts | SESSION)
    if not mark:
        return (text, folder.below if stem is folder.stem else f"{stem}/**", doubts)
    parameters, session = _parameters(query)
    text = f"{text}?{parameters}"
    if parameters.count("&") >= 2:
        doubts |= FACETS
    if "=D" in parameters or "month=" in parameters or "day=" in parameters:
        doubts |= DATE
    if session:
        return (text, f"**?{session}", doubts | SESSION)
    return (text, f"{stem}/{leaf if not slash else ''}?**", doubts)


def _with_query(text: str, query: str) -> str:
    return f"{text}?{_parameters(query)[0]}" if query else text


@lru_cache(maxsize=4_096)
def _folder(directory: str) -> _Folder:
    """The pattern of `/a/b` in `/a/b/leaf`, with a slash at its end; empty for the root."""
    names, loops, again = _without_cycles(directory.split("/")[1:])
    shown: list[str] = []
    doubts, dated = 0, 0
    for depth, name in enumerate(names):
        if depth in loops:
            shown.append(f"({loops[depth]})+")
            dated = 0
            continue
        kind = _kind(name.partition(";")[0])
        if dated and kind == "#" and len(name) <= 2:
            dated -= 1
            continue
        dated = 2 if kind == "#" and len(name) == 4 and name[:2] in ("19", "20") else 0
        plain = kind == name  # the folders `D` and `H` are what they are called
        if dated or (kind == "D" and not plain):
            kind, doubts = "D", doubts | DATE
        elif kind == "H" and not plain:
            doubts |= MINTED
        elif plain and len(shown) >= _NAMED:
            kind = "*"
        shown.append(kind)
    if again:
        doubts |= CYCLE if again == 1 else CYCLE | CYCLES
    if len(shown) > _DEEPEST:
        shown[_DEEPEST - 1 :] = ["**"]
        doubts |= DEEP
    loop = next((at for at, one in enumerate(shown) if one[-1:] == "+"), -1)
    # What the cycle is made of is left to chance where folders have random names.
    stem = "/".join([*shown[:loop], "(+)"] if loop >= 0 else shown[:1])
    stem = f"/{stem}" if stem else ""
    return _Folder(f"/{'/'.join(shown)}/" if shown else "/", stem, f"{stem}/**", doubts, dated)


def _without_cycles(names: list[str]) -> tuple[list[str], dict[int, str], int]:
    """The path with each way round a cycle left out, the cycles by place, and how often one was closed.

    A name met before leads back to where it was met; numbers and single letters may well come twice.
    """
    if len(set(names)) == len(names):
        return names, {}, 0
    kept: list[str] = []
    places: dict[str, int] = {}
    loops: dict[int, str] = {}
    again = 0
    for name in names:
        at = places.get(name)
        if at is None:
            if len(name) > 1 and not name.isdigit():
                places[name] = len(kept)
            kept.append(name)
            continue
        again += 1
        loops.setdefault(at, "/".join(kept[at : at + _LONGEST_BLOCK]))
        for left in kept[at + 1 :]:
            places.pop(left, None)
        loops = {place: block for place, block in loops.items() if place <= at}
        del kept[at + 1 :]
    return kept, loops, again


def _leaf(name: str) -> str:
    """The class of a page's own name, its extension kept."""
    if name.isdigit():
        return _kind(name)
    stem, dot, extension = name.rpartition(".")
    ending = _ending(extension) if dot and stem else ""
    if not ending:
        stem = name
    if not _DIGITS.search(stem) and (len(stem) < _TOKEN or not _HEX.fullmatch(stem)):
        return "*" + ending  # most names, and what is below would say the same
    kind = _kind(stem)
    if kind not in ("#", "D", "H", "*"):
        kind = "*#" if "#" in kind else "*"
    return kind + ending


@lru_cache(maxsize=256)
def _ending(extension: str) -> str:
    """As patterns show it; empty if that is none."""
    if len(extension) <= 5 and extension.isalnum() and not extension.isdigit():
        return "." + extension.lower()
    return ""


def _kind(name: str) -> str:
    """The class of a name, or the name with `#` for digits if it is a plain one."""
    length = len(name)
    if name.isdigit():
        return "D" if length == 8 and _DAY_NUMBER.fullmatch(name) else "#"
    if name.isalpha():
        return name if length <= _LONGEST_WORD else "*"
    if length >= 6 and name[:2] in ("19", "20") and _DASHED_DATE.fullmatch(name):
        return "D"
    if length >= 8 and is_token(name):
        return "H"
    if length > _LONGEST_NAME or name.count("-") + name.count("_") + name.count("+") + name.count("%20") >= 2:
        return "*"
    return _DIGITS.sub("#", name)


def is_token(text: str) -> bool:
    """Whether a name or value looks like a hash, a UUID or the id of a session, and not like words."""
    length = len(text)
    if length < 8 or not text.isascii():
        return False
    if _HEX.fullmatch(text):
        dashes = text.count("-")
        return dashes in (0, 4) and (length - dashes >= _TOKEN or _DIGITS.search(text) is not None)
    if length < _TOKEN:
        return False
    # Random letters and digits change places all the time; words with numbers hardly ever do.
    return len(_SWITCH.findall(text)) >= _SWITCHES


def _parameters(query: str) -> tuple[str, str]:
    """The names with the classes of their values, sorted, each once; and the one that names a session."""
    if "&" not in query:
        shown, is_session = _parameter(query)
        return shown, shown if is_session else ""
    found: set[str] = set()
    sessions = []
    for parameter in query.split("&", 4 * _MOST_NAMES)[: 4 * _MOST_NAMES]:
        shown, is_session = _parameter(parameter)
        found.add(shown)
        if is_session:
            sessions.append(shown)
    names = sorted(found)
    if len(names) > _MOST_NAMES:
        names[_MOST_NAMES:] = ["**"]
    return "&".join(names), min(sessions, default="")


def _parameter(parameter: str) -> tuple[str, bool]:
    """`name=class`, and whether it looks like the id of a session."""
    name, equals, value = parameter.partition("=")
    if not name.isalpha() or len(name) > _LONGEST_NAME:
        name = "*" if len(name) > _LONGEST_NAME else _DIGITS.sub("#", name)
    if not equals:
        return name, False
    if value.isdigit():
        kind = _kind(value)
    elif len(value) >= 6:
        kind = _kind(value)
        kind = kind if kind in ("D", "H") else "*"
    else:
        kind = "*" if value else ""
    session = kind == "H" or (name.lower() in _SESSION_NAMES and kind not in ("#", ""))
    return f"{name}={kind}", session
