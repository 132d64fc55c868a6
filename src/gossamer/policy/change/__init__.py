"""Whether a page has changed, and where: the one mechanism of revisits, watching and comparing (decision 0027).

`pieces` makes the text of a page a row of pieces, so that markup counts for nothing; `alignment` finds which stretches
of two rows differ, in nearly linear time; `volatile` learns of a site, from pairs of captures, which figures and
boxes differ at each visit whatever else does; `change` puts these together: `changed` compares two captures,
`fingerprint` makes of a capture a number that stays the same while nothing but such things changes.
"""
