"""Which candidates belong to the crawl: ordered rules of which the last opinion counts (K15, W16).

`scope` judges; `rules` are the built-in ones, `patterns` the operator's expressions in linear time,
`ascending` adds the folders above a page, `url_traps` refuses addresses that are endless by their looks
alone.
"""
