"""The engine: the only room that waits.

**How a crawl runs.** Workers take leases from `dispatch`, visit, and hand the visit to `settlement`, one
task that takes results in arrival order and owns the archive file, the write batch and the seen test.

**How it ends.** A crawl is finished when nothing is lent and nothing can fall due within `give_up_after`;
or at a limit; or when told to stop: then what is lent is finished first, and the state is checkpointed.
"""
