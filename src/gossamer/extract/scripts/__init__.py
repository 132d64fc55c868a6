"""Addresses that stand in scripts and in the data of pages, found without running anything.

`literals` finds the strings, `addresses` tells which of them may be addresses, `pages` knows where in a page
scripts stand, `extractor` makes speculative links of all that.
"""
