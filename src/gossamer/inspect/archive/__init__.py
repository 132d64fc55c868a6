"""Reads back what was archived: captures in the order of their writing, and the links between pages.

`captures` walks through the records that the state knows of; `link_graph` writes pages and hosts with their
links, and `reference_counts` keeps how often a URL is referred to. Memory is bounded: what does not fit is
sorted on disk. `following` opens a follower of a crawl that runs or has ended.
"""
