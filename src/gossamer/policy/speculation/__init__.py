"""Speculative links: addresses that nobody linked to, which a string of a script or of data may be, or the answer of
a search form to a word.

How one is written and where it stood (`form`) says how far to believe it at first; what visits of its host
brought (`belief`) says how far from then on.
"""
