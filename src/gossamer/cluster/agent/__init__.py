"""The life of one agent: joins, crawls what it is granted, moves shards in and out.

`agent` is the loop, `shard_leases` what it holds and until when; `router` and `outbox` see to it that a link
reaches its owner once; `move_executor` freezes, hands over and takes in shards. An agent that cannot renew stops
before another may begin.
"""
