"""Counts what waits: by level of the order and by registrable domain, which `count` tells of every host.

Both look at a bounded number of keys and say what they estimate.
"""
