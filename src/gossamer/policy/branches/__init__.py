"""Shares the visits of one host out among the branches of its site (W16; decision 0020).

`tree` is the fair queueing over branches by what their visits bring; `novelty` tells how much of a page is
new, and `met` remembers what was met in bounded memory.
"""
