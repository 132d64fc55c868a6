"""Takes what a crawl found along: as files for other programs, as files by name, into databases.

`rows` gives the rows of a table in an order that stays, `parts` writes them to numbered files in a folder or at
an address, `forms` says how; `files` writes each document under a name of its own; `databases` and `opensearch`
keep the rows elsewhere. What must stay true: an export ends whole or says that it did not, goes on where it was
interrupted, has each row once, and changes nothing of the crawl but `exports/` in its folder.
"""
