"""Log-in, log-out, preferences and help."""

from starlette.responses import RedirectResponse, Response

from gossamer.web.console.desk import KEYS, LANGUAGE, THEME, THEMES, Desk
from gossamer.web.console.routes import get, post
from gossamer.web.security.door import Later, Wrong, address_of, safe_next
from gossamer.words.catalogue import LANGUAGES

_YEAR = 365 * 86_400


async def ask_for_log_in(desk: Desk) -> Response:
    """The form, or straight on for who needs none."""
    target = safe_next(desk.asked("next"))
    if desk.person is not None:
        return RedirectResponse(target, 303)
    return _form(desk, 200, target)


async def log_in(desk: Desk) -> Response:
    """A session, if name and password are right."""
    name, target = desk.sent("name")[:64], safe_next(desk.sent("next"))
    door = desk.request.app.state.door
    found = await door.log_in(name, desk.form.get("password", ""), address_of(desk.request))
    match found:
        case Wrong():
            t = desk.words
            problem = t("login.wrong_token") if door.wants_token else t("login.wrong")
            return _form(desk, 401, target, name, problem)
        case Later(seconds=seconds):
            problem = desk.words("login.later", seconds=round(seconds))
            answer = _form(desk, 429, target, name, problem)
            answer.headers["Retry-After"] = str(max(1, round(seconds)))
            return answer
        case session:
            answer = RedirectResponse(target, 303)
            door.give_cookie(answer, desk.request, session)
            return answer


def _form(desk: Desk, status: int, target: str, name: str = "", problem: str = "") -> Response:
    by_token = desk.request.app.state.door.wants_token
    return desk.page("login.html", status, next=target, name=name, problem=problem, by_token=by_token)


async def log_out(desk: Desk) -> Response:
    """End the session and show the door."""
    answer = RedirectResponse("/login", 303)
    if desk.person is not None:
        desk.request.app.state.door.log_out(answer, desk.request, desk.person)
    return answer


async def set_preferences(desk: Desk) -> Response:
    """Language, theme and shortcuts, kept by the browser."""
    answer = RedirectResponse(safe_next(desk.sent("back")), 303)
    secure = desk.request.url.scheme == "https"

    def keep(cookie: str, value: str) -> None:
        answer.set_cookie(cookie, value, _YEAR, samesite="strict", httponly=True, secure=secure)

    if (language := desk.sent("language")) in LANGUAGES:
        keep(LANGUAGE, language)
    if (theme := desk.sent("theme")) in (*THEMES, "auto"):
        keep(THEME, theme)
    if (keys := desk.sent("keys")) in ("on", "off"):
        keep(KEYS, keys)
    return answer


async def show_help(desk: Desk) -> Response:
    """Show the keys, and words that need explaining."""
    return desk.page("help.html", section="help")


PAGES = (
    get("/login", ask_for_log_in),
    post("/login", log_in),
    post("/logout", log_out),
    post("/preferences", set_preferences),
    get("/help", show_help),
)
