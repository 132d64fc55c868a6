"""What the answer to a link means for whoever follows it.

`verdicts` decides by one table what to ask next and what it amounts to; `walls` knows the signs of pages that are
shown to robots alone, `fragments` whether a place within a page is there. All of it is pure.

The rule above all others: *broken* is what is proved. Whoever is turned away, made to wait or not answered has
learned nothing of the page, so a link checker that says "broken" then is switched off by its users.
"""
