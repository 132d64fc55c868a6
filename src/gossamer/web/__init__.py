"""The daemon over HTTP: REST for programs (`api`), pages for people (`console`), and the door of both.

A request passes `security` first: listening, limits, who it is and what that one may. `api` and `console`
then read the same views of the daemon. Pages work without script and fetch nothing from elsewhere. What
came from the web or from a setting is text, never markup.
"""
