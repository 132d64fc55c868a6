"""Hands out resources so that every process can always end (B1-B6; CN104462195A).

`allocator` is the pure banker's algorithm over `holdings`, with `safety` telling in which order all could
end; `claims` and `grants` are what the daemon makes of it. What would not be safe waits, and is told what
it waits for.
"""
