"""How likely a speculative link leads to something: by what came of those before on its host (K19).

Links of one host are told apart by where they stood and how they were written (`form.element_of`). Each such
kind begins with `form.prior` as if `WEIGHT` links had been tried. A link whose URL was known without it speaks
for its kind, but only as far as a few visits would: what is on every page would drown what visits say. What
visits say is halved now and then, so that a site that changes is noticed.
"""

import msgspec

from gossamer.model.reasons.codes import SpeculationCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.form import group_of, is_question, prior

__all__ = ["Tried", "TriedKind"]

WEIGHT = 3.0
"""Visits that `prior` counts as: the likeliest kinds end after some ten visits in vain, doubtful ones after one."""
MOST_KNOWN = 4
"""Links to known URLs that speak for a kind."""
REMEMBERED = 64
"""Visits of a kind after which all before count half."""
MOST_KINDS = 96
"""Kinds told apart on one host; there are fewer."""
MOST_FORMS = 8
"""Forms of one host that are asked; on most there is one."""


class TriedKind(msgspec.Struct, array_like=True):
    """What came of links of one kind."""

    known: int = 0  # they led to URLs that were known without them
    found: int = 0  # visits that brought something
    missing: int = 0  # visits that did not
    asked: int = 0  # of a form: which list of words was queued; 0: none


class Tried(msgspec.Struct, array_like=True):
    """What came of the speculative links of one host; some 20 bytes for each kind that it has.

    Attributes:
        kinds: by `Link.element`, and forms by `form.known_as`.
        missing: visits that brought nothing, all there ever were; but for answers of forms.
    """

    kinds: dict[str, TriedKind] = {}
    missing: int = 0

    @classmethod
    def unpacked(cls, data: bytes) -> "Tried":
        """As it was packed; of nothing, nothing was tried."""
        return msgspec.msgpack.decode(data, type=cls) if data else cls()

    def packed(self) -> bytes:
        """The same as bytes, as they stand in the record of a host."""
        return msgspec.msgpack.encode(self)

    def belief(self, element: str) -> float:
        """How likely the next link of a kind leads to something, 0 to 1."""
        kind = self.kinds.get(group_of(element), _UNTRIED)
        known = min(kind.known, MOST_KNOWN)
        tried = WEIGHT + known + kind.found + kind.missing
        return (WEIGHT * prior(element) + known + kind.found) / tried

    def doubt(self, element: str, pages: int, config: SpeculationConfig) -> Reason | None:
        """Why a link of a kind is not worth a visit, if it is not; `pages`: of its host so far."""
        belief = self.belief(element)
        if belief < config.min_belief:
            return because(SpeculationCode.DOUBTED, element, belief, config.min_belief)
        if self.missing >= max(config.first_missing, config.max_missing * pages):
            return because(SpeculationCode.SPENT, self.missing, pages)
        return None

    def form_doubt(self, element: str, min_yield: float) -> Reason | None:
        """Why a word of a form is not worth a visit, if it is not."""
        share = self.belief(element)
        if share >= min_yield:
            return None
        return because(SpeculationCode.FORM_SPENT, group_of(element), share, min_yield)

    def asks(self, form: str, words: int) -> bool:
        """Whether a form, as `form.known_as`, is to be asked a list of words; from now on it was.

        `words`: a number that stands for the list.
        """
        known = self.kinds.get(form)
        if known is None:
            if sum(map(is_question, self.kinds)) >= MOST_FORMS:
                return False
            known = self.kinds[form] = TriedKind()
        if known.asked == words:
            return False
        known.asked = words
        return True

    def was_known(self, element: str) -> bool:
        """A link of a kind led to a URL that was known without it; whether that says anything new."""
        kind = self._kind(element)
        if kind.known >= MOST_KNOWN:
            return False
        kind.known += 1
        return True

    def came_of(self, element: str, *, found: bool) -> None:
        """A visit to a link of a kind is over."""
        kind = self._kind(element)
        if found:
            kind.found += 1
        else:
            kind.missing += 1
            self.missing += not is_question(element)
        if kind.found + kind.missing > REMEMBERED:
            kind.found //= 2
            kind.missing //= 2

    def _kind(self, element: str) -> TriedKind:
        element = group_of(element)
        if len(self.kinds) >= MOST_KINDS and element not in self.kinds:
            return TriedKind()
        return self.kinds.setdefault(element, TriedKind())


_UNTRIED = TriedKind()
