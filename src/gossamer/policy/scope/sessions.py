"""Keeps a crawl from what would end its session: links that log out, and the log-in page itself."""

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl

import msgspec

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Rule
from gossamer.model.reasons.codes import LoginCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import Url
from gossamer.policy.places.index import PlaceIndex
from gossamer.policy.places.place import Asked, PlaceRule
from gossamer.policy.scope.patterns import Patterns
from gossamer.policy.scope.rules import NamedRule

WAYS_OUT = (
    *("log-out", "log-off", "sign-out", "sign-off", "end-session", "kill-session", "abmelden", "ausloggen"),
    *("deconnexion", "se-deconnecter", "cerrar-sesion", "uitloggen", "logga-ut", "logg-ut", "log-ud"),
    *("wyloguj", "odhlasit", "terminar-sessao", "disconnetti", "kijelentkezes", "vyhod", "tuichu", "zhuxiao"),
)
"""Words by which addresses log out, in any case. Where `-` stands there may be `_`, `+`, `.`, a blank or nothing."""

_BETWEEN = r"(?:[-_+. ]|%20)?"
_WAY_OUT = re.compile(
    r"(?<![a-z])(?:do|user|member|auth)?(?:"
    + "|".join(_BETWEEN.join(word.split("-")) for word in WAYS_OUT)
    + r")(?![a-z])",
    re.IGNORECASE,
)
"""Whole words: `blog-outlook` is none of them."""
_ADDRESS = re.compile(r"/|[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class KeptSession(msgspec.Struct, frozen=True):
    """What may end the session of one place.

    Attributes:
        place: where it holds.
        page: of the log-in.
        never: expressions (RE2); a URL in which one occurs is not visited.
    """

    place: PlaceRule
    page: Url
    never: tuple[str, ...] = ()


def is_page(url: Url, page: Url) -> bool:
    """Whether a URL is that of a log-in page, wherever it leads back to.

    That is: the path is the same, and so are all parameters of the page but those that are addresses
    themselves (`next=/members/`).
    """
    if (url.host, url.path) != (page.host, page.path):
        return False
    wanted = {(name, value) for name, value in parse_qsl(page.query, True) if not _ADDRESS.match(value)}
    return wanted <= set(parse_qsl(url.query, True))


def way_out(target: str) -> str:
    """The word by which an address logs out; empty if there is none."""
    found = _WAY_OUT.search(target)
    return found[0] if found else ""


def session_rule(sessions: Sequence[KeptSession]) -> NamedRule:
    """Rejects what would end a session, or begin another one."""
    index = PlaceIndex(session.place for session in sessions)
    by_text = {session.place.text: (session, Patterns(session.never)) for session in sessions}
    ordered = [by_text[place.text] for place in index.places]
    pages = [session.page for session in sessions]

    def why(candidate: Candidate) -> Reason | None:
        url = candidate.url
        for page in pages:
            if is_page(url, page):
                return because(LoginCode.PAGE, page.text)
        for rank in index.matching(Asked(url.host, url)):
            session, never = ordered[rank]
            found = way_out(url.target) or never.first_in(url.text)
            if found:
                return because(LoginCode.LEAVES, found, session.place.text)
        return None

    def opinion(candidate: Candidate) -> bool | None:
        robots = candidate.kind is LinkKind.ROBOTS or candidate.origin
        return None if robots or why(candidate) is None else False

    return NamedRule("log-in", opinion, Rule.SCOPE, lambda candidate, _: why(candidate) or Reason(Rule.SCOPE))
