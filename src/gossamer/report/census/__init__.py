"""Gathers the figures of a report: one pass over the crawl log, one over the hosts.

`gather` makes them all; memory is bounded, so what is largest is kept and the rest is summed (`tallies`).
"""
