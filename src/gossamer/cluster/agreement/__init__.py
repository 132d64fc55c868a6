"""What agents agree on, as pure decisions: ownership, time, shares, the end.

`rendezvous` assigns shards, `tenure` says how long one may act as owner without asking, `allowance` shares
a limit, and `termination` finds out that all is over by counting twice. Nothing here waits or reads a
clock.
"""
