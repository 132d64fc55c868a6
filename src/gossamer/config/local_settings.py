"""The settings as they stand at each place: the one seam through which rooms ask what differs by place."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gossamer.config.dotted import join_path
from gossamer.config.place_config import KNOWN, ONCE, CredentialsConfig, Placed
from gossamer.fetch.config import FetchConfig
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, WrongValueError, because, of, placed, text
from gossamer.policy.places.known import Known
from gossamer.policy.places.local import Given, Local
from gossamer.policy.places.place import Asked, PlaceRule, read_place
from gossamer.policy.scope.scope import ScopeConfig, ScopePlaces
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.policy.speculation.forms_config import FormsConfig
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.policy.visits.retry import RetryConfig


class LocalSettings:
    """The sections that can differ, as they stand at each place: the one seam through which rooms ask.

    Args:
        sections: what holds everywhere, by name.
        places: by their texts, checked.
    """

    def __init__(self, sections: Mapping[str, msgspec.Struct], places: Mapping[str, Placed]) -> None:
        read = [(read_place(name), here) for name, here in places.items()]
        bases = {**sections, "credentials": CredentialsConfig()}
        self.sections: dict[str, Local[Any]] = {
            name: Local(bases[name], [(place, here.said(name)) for place, here in read]) for name in KNOWN
        }
        self.scope: Local[ScopeConfig] = self.sections["scope"]
        self.politeness: Local[PolitenessConfig] = self.sections["politeness"]
        self.budget: Local[BudgetConfig] = self.sections["budget"]
        self.retry: Local[RetryConfig] = self.sections["retry"]
        self.traps: Local[TrapConfig] = self.sections["traps"]
        self.fetch: Local[FetchConfig] = self.sections["fetch"]
        self.forms: Local[FormsConfig] = self.sections["forms"]
        self.credentials: Local[CredentialsConfig] = self.sections["credentials"]
        self.scope_places: ScopePlaces = (self.scope, self.traps)

    def credentials_at(self, asked: Asked) -> Given | None:
        """The narrowest place that has credentials for the origin of a URL, and what it says of them."""
        url, found = asked.url, self.credentials.matching(asked)
        return next((one for one in found if url is not None and one[0].is_for_origin(url)), None)


def place_problems(sections: Mapping[str, msgspec.Struct], places: Mapping[str, Placed]) -> Iterator[Reason]:
    """All that is wrong with places, each at its path."""
    known: dict[tuple[object, ...], str] = {}
    for name, here in places.items():
        at = join_path(["place", name])
        try:
            place = read_place(name)
        except WrongValueError as error:
            yield of(at, error.reasons[0])
            continue
        if place.means in known:
            yield of(at, because(ProblemCode.PLACE_SAME, known[place.means]))
        known[place.means] = name
        for section, names in KNOWN.items():
            for key, value in here.said(section).items():
                if value is not None and place.needs > names[key]:
                    yield of(f"{at}.{section}.{key}", _not_yet(place, names[key]))
            if section in ONCE and place.hours is not None and here.said(section):
                yield of(f"{at}.{section}", because(ProblemCode.PLACE_ONCE, name))
        if here.credentials is not None and not place.host:
            yield of(f"{at}.credentials", because(ProblemCode.PLACE_ORIGIN, name))
        yield from _impossible(at, sections, here)


_WORDS = {
    Known.HOST: ProblemCode.KNOWN_HOST,
    Known.URL: ProblemCode.KNOWN_URL,
    Known.ADDRESS: ProblemCode.KNOWN_ADDRESS,
    Known.ANSWER: ProblemCode.KNOWN_ANSWER,
}


def _not_yet(place: PlaceRule, known: Known) -> Reason:
    return because(ProblemCode.PLACE_UNKNOWN, Reason(_WORDS[known]), place.text, Reason(_WORDS[place.needs]))


def _impossible(at: str, sections: Mapping[str, msgspec.Struct], here: Placed) -> Iterator[Reason]:
    """Values that a section refuses."""
    for name, section in sections.items():
        try:
            msgspec.structs.replace(section, **here.said(name))
        except WrongValueError as error:
            reasons = [placed(reason) for reason in error.reasons]
        except ValueError as error:
            reasons = [placed(text(line)) for line in str(error).splitlines()]
        else:
            continue
        yield from (of(f"{at}.{name}.{key}" if key else f"{at}.{name}", told) for key, told in reasons)
