"""Tables of what a crawl found, for questions in SQL and to take along.

`tables` says which there are and what their columns mean; `snapshot` writes those that the state, the index
and the log tell as Parquet into the crawl's folder (`tables/`), anew only where something has changed; `sql`
answers questions over them, and over what was derived from documents, without reading or writing anything
else. What must stay true: everything here is made from the crawl and can be deleted and made again; nothing
here changes the crawl.
"""
