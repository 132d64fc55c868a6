"""A site of members behind Django's own log-in (its admin's), for a process of its own: FOLDER PORT LASTS PAGES."""

import sys
from pathlib import Path
from wsgiref.simple_server import make_server

import django
from django.conf import settings

FOLDER, PORT, LASTS, PAGES = Path(sys.argv[1]), *map(int, sys.argv[2:])
_DJANGO = "django.contrib"
settings.configure(
    SECRET_KEY="of a test",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "db.sqlite3"}},
    INSTALLED_APPS=[
        f"{_DJANGO}.{name}" for name in ("auth", "contenttypes", "sessions", "admin", "messages")
    ],
    MIDDLEWARE=[
        f"{_DJANGO}.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        f"{_DJANGO}.auth.middleware.AuthenticationMiddleware",
        f"{_DJANGO}.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    f"{_DJANGO}.auth.context_processors.auth",
                    f"{_DJANGO}.messages.context_processors.messages",
                ]
            },
        }
    ],
    PASSWORD_HASHERS=[f"{_DJANGO}.auth.hashers.MD5PasswordHasher"],  # the others take a second on purpose
    LOGIN_URL="/admin/login/",
)
django.setup()

from django.contrib import admin  # noqa: E402 - Django's own order
from django.contrib.auth import get_user_model  # noqa: E402
from django.contrib.auth.decorators import login_required  # noqa: E402
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402


@login_required
def page(request, number=0):
    """A page of members; a session lasts `LASTS` of them."""
    left = request.session.get("left", LASTS)
    request.session["left"] = left - 1
    if left <= 1:
        request.session.flush()
    links = "".join(f"<a href='/members/{n}/'>x</a>" for n in (2 * number + 1, 2 * number + 2) if n <= PAGES)
    return HttpResponse(
        f"{links}<a href='/admin/logout/'>out</a><a href='/admin/login/'>in</a>"
        f"<form method=post action='/admin/logout/'><button>Log out</button></form>of members {number}"
    )


urlpatterns = [
    path("admin/", admin.site.urls),
    path("members/", page),
    path("members/<int:number>/", page),
]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    get_user_model().objects.create_superuser(sys.stdin.readline().strip(), "", sys.stdin.readline().strip())
    with make_server("127.0.0.1", PORT, WSGIHandler()) as server:
        print(server.server_port, flush=True)
        server.serve_forever()
