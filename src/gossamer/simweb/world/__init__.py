"""What stands where in the simulated web: a function of seed and address, with the truth about it.

`world` finds what stands at an address, `site` makes ordinary hosts, and `truth` says what a correct crawl
must fetch.
"""
