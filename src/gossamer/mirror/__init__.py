"""Writes a crawl to files that are read without a network: from a disk, or from any server of files.

`plan` goes through the index and decides what lies where (`names`, kept in `table`); `making` reads each document
back, gives it links to its neighbours (`links`) and puts it in its place (`places`); `own_pages` are two pages of
the mirror's own. Nothing is held in memory that grows with the crawl.
"""
