"""Spellings of URLs: what is one and the same, and what shares a queue.

`canonical` applies the named `canonical_rules`; `parameters` finds out which parameters do not matter;
`registrable` and `queue_key` name domain and queue.
"""
