"""Log-in, log-out, preferences and help."""

from starlette.responses import RedirectResponse, Response

from gossamer.web.console.request_context import KEYS, LANGUAGE, THEME, THEMES, RequestContext
from gossamer.web.console.routes import get, post
from gossamer.web.security.door import TryLater, Wrong, address_of, safe_next
from gossamer.words.amounts import LANGUAGES

_YEAR = 365 * 86_400


async def ask_for_log_in(context: RequestContext) -> Response:
    """The form; whoever needs none is sent straight on."""
    target = safe_next(context.asked("next"))
    if context.person is not None:
        return RedirectResponse(target, 303)
    return _form(context, 200, target)


async def log_in(context: RequestContext) -> Response:
    """A session, if name and password are right."""
    name, target = context.sent("name")[:64], safe_next(context.sent("next"))
    door = context.request.app.state.door
    found = await door.log_in(name, context.form.get("password", ""), address_of(context.request))
    match found:
        case Wrong():
            t = context.words
            problem = t("login.wrong_token") if door.wants_token else t("login.wrong")
            return _form(context, 401, target, name, problem)
        case TryLater(seconds=seconds):
            problem = context.words("login.later", seconds=round(seconds))
            answer = _form(context, 429, target, name, problem)
            answer.headers["Retry-After"] = str(max(1, round(seconds)))
            return answer
        case session:
            answer = RedirectResponse(target, 303)
            door.give_cookie(answer, context.request, session)
            return answer


def _form(context: RequestContext, status: int, target: str, name: str = "", problem: str = "") -> Response:
    by_token = context.request.app.state.door.wants_token
    return context.page("login.html", status, next=target, name=name, problem=problem, by_token=by_token)


async def log_out(context: RequestContext) -> Response:
    """End the session and show the door."""
    answer = RedirectResponse("/login", 303)
    if context.person is not None:
        context.request.app.state.door.log_out(answer, context.request, context.person)
    return answer


async def set_preferences(context: RequestContext) -> Response:
    """Language, theme and shortcuts, kept by the browser."""
    answer = RedirectResponse(safe_next(context.sent("back")), 303)
    secure = context.request.url.scheme == "https"

    def keep(cookie: str, value: str) -> None:
        answer.set_cookie(cookie, value, _YEAR, samesite="strict", httponly=True, secure=secure)

    if (language := context.sent("language")) in LANGUAGES:
        keep(LANGUAGE, language)
    if (theme := context.sent("theme")) in (*THEMES, "auto"):
        keep(THEME, theme)
    if (keys := context.sent("keys")) in ("on", "off"):
        keep(KEYS, keys)
    return answer


async def show_help(context: RequestContext) -> Response:
    """Show the keys, and words that need explaining."""
    return context.page("help.html", section="help")


PAGES = (
    get("/login", ask_for_log_in),
    post("/login", log_in),
    post("/logout", log_out),
    post("/preferences", set_preferences),
    get("/help", show_help),
)
