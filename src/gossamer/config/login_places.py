"""What recipes of log-ins mean for the other settings: cookies at their places, and where a crawl may not go."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gossamer.config.dotted import join_path
from gossamer.config.place_config import PlaceConfig
from gossamer.engine.login.config import LoginConfig
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, WrongValueError, because, of
from gossamer.model.url import Url
from gossamer.policy.places.known import Known
from gossamer.policy.places.place import read_place
from gossamer.policy.scope.sessions import KeptSession


def with_cookies(places: Mapping[str, Any], recipes: Mapping[str, LoginConfig]) -> dict[str, Any]:
    """The places, with cookies kept where there are log-ins."""
    laid = dict(places)
    for name in recipes:
        here = laid.get(name, PlaceConfig())
        with_them: Any = msgspec.convert({"fetch": {"cookies": True} | here.said("fetch")}, PlaceConfig)
        laid[name] = msgspec.structs.replace(here, fetch=with_them.fetch)
    return laid


def kept(place: str, recipe: LoginConfig) -> KeptSession:
    """The session of a place, as the scope must not end it."""
    page = Url.parse(recipe.page)
    assert page is not None, "was checked when the settings were read"
    return KeptSession(read_place(place), page, recipe.never)


def login_problems(recipes: Mapping[str, LoginConfig]) -> Iterator[Reason]:
    """Places that recipes cannot be for, each at its path."""
    for name in recipes:
        at = join_path(["login", name])
        try:
            place = read_place(name)
        except WrongValueError as error:
            yield of(at, error.reasons[0])
            continue
        if not place.host or place.needs > Known.URL or place.pattern or place.hours is not None:
            yield of(at, because(ProblemCode.LOGIN_PLACE, name))
