"""What may be asked of a crawl that changes nothing, whether it runs or has stopped."""

from collections.abc import Callable
from typing import Any

import msgspec

from gossamer.control.socket.protocol import LiveError, Nothing, invalid
from gossamer.control.views.context import ViewContext, seen
from gossamer.control.views.freshness_views import freshness, left
from gossamer.control.views.host_views import Host, Hosts, host, hosts
from gossamer.control.views.log_views import Log, codes, log
from gossamer.control.views.page_views import Pages, pages
from gossamer.control.views.queue_views import Queue, queue, queue_sizes, time_left
from gossamer.control.views.status import status
from gossamer.control.views.story_views import (
    Changes,
    History,
    Names,
    Robots,
    SettingsFor,
    Traps,
    Why,
    changes,
    history,
    hubs,
    names,
    robots,
    settings,
    settings_for,
    traps,
    why,
)
from gossamer.control.views.url_views import (
    Captures,
    OneUrl,
    UrlList,
    Year,
    calendar,
    captures,
    page,
    url_list,
)
from gossamer.model.reasons.reason import of, text

VIEWS: dict[str, tuple[type[msgspec.Struct], Callable[[ViewContext, Any], Any]]] = {
    "status": (Nothing, status),
    "history": (History, history),
    "hosts": (Hosts, hosts),
    "host": (Host, host),
    "queue": (Queue, queue),
    "queue_sizes": (Nothing, queue_sizes),
    "pages": (Pages, pages),
    "list": (UrlList, url_list),
    "page": (OneUrl, page),
    "captures": (Captures, captures),
    "calendar": (Year, calendar),
    "log": (Log, log),
    "codes": (Nothing, codes),
    "names": (Names, names),
    "robots": (Robots, robots),
    "traps": (Traps, traps),
    "hubs": (Nothing, hubs),
    "why": (Why, why),
    "forecast": (Nothing, time_left),
    "freshness": (Nothing, freshness),
    "left": (Nothing, left),
    "settings": (Nothing, settings),
    "settings_for": (SettingsFor, settings_for),
    "changes": (Changes, changes),
}
"""Parameters and function of each, by name."""

SLOW = frozenset(
    {
        "queue_sizes",
        "traps",
        "codes",
        "why",
        "page",
        "captures",
        "calendar",
        "settings",
        "settings_for",
        "freshness",
        "left",
    }
)
"""Views that may take seconds of a large crawl; others wait for nobody longer than for a page of a list."""


def answer_view(look: ViewContext, method: str, params: dict[str, Any]) -> Any:
    """The result of a view, as plain JSON values; for stopped crawls, from any thread but one at a time.

    Raises:
        LiveError: `not_found` for an unknown method, `invalid` parameters, or what the view says.
    """
    if method not in VIEWS:
        raise LiveError("not_found", f"there is no view {method!r}; there are {', '.join(sorted(VIEWS))}")
    kind, view = VIEWS[method]
    return msgspec.to_builtins(seen(view, look, parameters(kind, params)), str_keys=True)


def parameters(kind: type[msgspec.Struct], params: dict[str, Any]) -> Any:
    """The parameters of a method.

    Raises:
        LiveError: `invalid`, with the path of what is wrong.
    """
    try:
        return msgspec.convert(params, kind)
    except msgspec.ValidationError as error:
        said, _, path = str(error).partition(" - at `$")
        where = path.strip("`.")
        raise invalid((of(where, text(said)) if where else text(said),)) from None
