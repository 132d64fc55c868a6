"""The full-text index of one crawl: how words are told apart, what is kept of a document, how it is asked."""
