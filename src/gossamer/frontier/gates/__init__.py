"""What a host must pass before its URL is lent: name known, robots known, budget left, turn of this crawl.

Each is a `gate.Gate` and answers with a `Turn`: pass, another entry first, or nothing for now. The
shared gate speaks with the machine's other crawls through a table in shared memory.
"""
