"""Near-duplicates among the documents of a crawl, and copies of given ones."""
