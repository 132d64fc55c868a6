"""When pages that were visited are worth another visit (K11, K15, W5; decision 0026).

`history` is what is kept of a page; `rates` makes of it, and of what other pages of the site and the crawl did, how
often it changes and how sure that is. `value` is what a visit is worth then, which grows while the page waits;
`classes` puts pages that are worth the same after the same time into one queue, so that the oldest of a class is
always its best. `threshold` is the worth at which a page is due, one for the whole crawl, led by the visits spent.
`trust` judges who says that pages have changed, `activity` whether a site changes more than was expected of it, `gone`
tells when a page is gone.
"""
