"""`httpx` without the certificates of the world, which each of its clients reads anew: 45 ms of processor a request."""

import ssl
from functools import partial

import httpx
from patience import PATIENCE

_NOBODY_TRUSTED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_how = {"verify": _NOBODY_TRUSTED, "timeout": PATIENCE}

get = partial(httpx.get, **_how)
post = partial(httpx.post, **_how)
stream = partial(httpx.stream, **_how)
Client = partial(httpx.Client, **_how)
