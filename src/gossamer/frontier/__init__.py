"""The frontier: everything known and not finished, and what may be asked for now.

**Where a URL waits.** Each URL waits in the queue of its host (`queue`), or, if it must wait for a time
of its own, in `delayed`. Both are on disk; a host that is being served has the front of its queue in memory.

**How a host rests.** A host with work is *ready*, *resting* (until a due time) or *lent* (as many leases
are out as it allows). A bounded number of hosts is in memory; the rest are on disk, ordered in `wake` by
the time they fall due, and woken by it. A host without work is *empty*; one left alone is *parked*.

**How a lease ends.** Lending deletes nothing: an entry leaves the queue only in the settlement's batch,
so a crash costs a second visit, never a hole.
"""
