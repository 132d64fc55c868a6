"""The one door in: seeds, links, redirects, robots files and sitemap entries all enter here.

A candidate gets its address, where a site has several, and its identity, is judged by scope and traps, and put
into the frontier if it was never seen; `rejudging` and `reclaim` do it again after the scope has changed. What
belongs to another agent leaves through `elsewhere`.
"""
