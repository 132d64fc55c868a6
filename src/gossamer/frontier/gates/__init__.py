"""What a host must pass before its URL is lent: name known, robots known, budget left, turn of this crawl.

Each gate answers with a `turn`: pass, wait until, or not at all. The shared gate speaks with the machine's
other crawls through a table in shared memory.
"""
