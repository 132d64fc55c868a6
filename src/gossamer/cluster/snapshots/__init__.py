"""Copies of an agent's crawl in a store that others can read (W14, W15).

`snapshots` takes them in `pieces` named by their content, `restoring` brings them back verified,
`collection` makes one index over all agents' archives. A snapshot counts when its manifest is there, and
not before.
"""
