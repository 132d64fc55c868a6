"""Compares what was archived: two captures of a page, or two crawls, by what their pages say (decision 0027).

`text` makes a capture a row of pieces, `learned` finds out what of a site differs at each visit, `captures` compares
two captures, `crawls` two folders as streams.
"""
