"""The web console: pages made on the server, a style sheet and a few small scripts of our own.

Decision 0015 tells why it is not a framework in the browser. `console_router` goes into the application of
`web.api`; log-in, CSRF and the headers of every answer are the gate's (`web.security`).

How a page comes about: `router` finds the function of its address in `PAGES` of one of the page modules, and
gives it a `RequestContext` (who asks, in which language, what was sent). The function asks the daemon and hands what it
found to a template; `renderer` fills that in. `static/live.js` asks for the block `live` of the page again.
"""

from gossamer.web.console.router import console_router

__all__ = ["console_router"]
