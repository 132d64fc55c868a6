"""Robots files (RFC 9309), and what pages ask of robots themselves.

`file` reads, `match` decides on a target in bounded time, `access` says what the outcome of fetching one
means, and `directives` merges meta elements and `X-Robots-Tag`.
"""
