"""The coordinator: who owns which shards, for how long, until the crawl is over.

`coordination` decides, `record` is what it must not forget, saved before it is told (`versions`, `terms`);
`moving` and `leaving` change it step by step. A coordinator that dies is replaced; the later one counts.
"""
