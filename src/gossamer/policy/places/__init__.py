"""Settings that differ by place: what a place is, which of those that hold is the narrowest, what follows.

A [place](place.py) is read from what the operator wrote; an [index](index.py) finds those that hold for a URL, the
narrowest first; [local settings](local.py) lay what they say over what holds everywhere. What must stay true: a crawl
without places pays nothing, and the order of places is one total order (docs/decisions/0029-places.md).
"""
