"""From a lease to a visit: workers take what the frontier lends, fetch it and read it.

`dispatch` makes a stream of leases of a frontier that never waits; `worker` is the loop to read first;
`reading` undoes codings and extracts, off the loop where it is long. Every lease ends in settlement.
"""
