"""What Gossamer says to people, in each of its languages: for the command line, the report and the console.

Decisions travel as values; words are put to them here, where they are shown. `en.toml` and `zh.toml` have
the same keys, one section for each place or kind of thing; `meanings.<language>.toml` says what settings
mean, which in English the settings say themselves. `catalogue` reads them, `amounts` writes numbers, sizes
and times, `visible` makes text from elsewhere harmless. The words for reasons lie beside their codes, in
`model/reasons/words`, because errors are put into words in `model`, which may not import this room.
A text is in here once, and nothing reads a sentence to learn what happened.
"""
