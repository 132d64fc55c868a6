"""Who may do what over HTTP: accounts, sessions, tokens, and the gate that every request passes.

**Nobody but this machine** reaches a daemon without accounts: it listens on loopback only, and whoever can
connect is an operator named `local`. **With accounts** every page, loopback too, wants a session or a token.
**The gate** (gate.py) is one ASGI layer around all of it, so that no route can forget it: the Host header
against DNS rebinding, sizes and times of bodies, who asks, whether their own page made them ask (CSRF), what
their role may, and the headers of every answer. What is not expressly open is closed.
"""
