"""A running crawl answers: what it is doing, why, and what it shall do from now on.

`session` opens the control socket (`socket`) and keeps the history; requests are answered from `views`,
which change nothing and read a stopped crawl as well, or carried out by `changes`. All of it runs on the
crawl's event loop, so every answer is bounded in time: long lists come in pages, long work in steps. What
was changed is logged with who did it.
"""
