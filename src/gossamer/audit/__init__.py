"""Says whether a site is well: its links, and what its pages lack.

**What was crawled** is gone through once (`gathering`): each page is read (`page`), what is wrong with it alone is
noted (`page_rules`), and its links go into a table on disk (`store`), so that memory does not grow with the site.
**What the links lead to** is taken from the crawl where that knows (`standing`), else asked (`asking`): once, politely,
and remembered for as long as the folder is kept. **What is wrong with the site as a whole** comes last (`site_rules`).
`findings` says which of all that counts, `outputs` writes it.
"""
