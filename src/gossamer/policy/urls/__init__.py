"""Spellings of URLs: what is one and the same, and what shares a queue.

`canonical` applies the named `canonical_rules`; `parameters` finds out which parameters do not matter;
`mirrors` says at which of a site's addresses each URL is asked for; `registrable` and `queue_key` name domain
and queue.
"""
