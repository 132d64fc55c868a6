"""The RocksDB environment: column families, keys, records, atomic batches, checkpoints.

**One writer.** The engine's process opens the environment for writing and holds RocksDB's lock; every
other reader (`status`, `why`, `check` beside a running crawl) opens a secondary instance.

**One batch.** What settlement changes, it changes in one atomic batch across all families. Nothing is
written in parts, so a kill at any instant leaves the state as of some settled group.
"""
