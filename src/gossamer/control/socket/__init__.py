"""The control socket: one JSON line a request, one line its answer.

`protocol` is the language, `server` the crawl's end, `client` the other; `address` finds the socket of a
folder however long its path, and `answers` who answers what. Only the crawl's owner can connect.
"""
