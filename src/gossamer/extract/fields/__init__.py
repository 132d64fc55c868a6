"""Values that a user wants of each page, by selectors (`[fields.product]`, `price = ".price | number"`).

`selector` reads a selector and takes its values from a parsed page; `values` makes numbers and dates
of text; `extractor` does so for every page of a crawl, in a process of its own, because parsers of HTML are
quadratic in what hostile pages nest. What must stay true: a selector that cannot be read is a problem of the
configuration, told before the crawl begins; what a page does not have is left out.
"""
