"""Names to addresses: an asynchronous resolver over c-ares, and caches for its answers.

**How a name is answered.** `resolver` answers literals, the hosts file's names and what the cache holds
at once. Any other name becomes a `name_lookup`: a `question` for IPv4 and one for IPv6, put to the name
`servers` attempt after attempt through a c-ares `channel`, behind which a `forwarder` may ask over HTTPS. What
comes back is read by `reply`; two replies combine into one Answer, which goes to everyone who waits and into the
cache. If the servers fail or are slow, an expired answer that the cache still has stands in.

**Before anybody waits.** `prefetch` resolves names that will be needed soon, beside the others and after
them. `statistics` counts what became of all of them.
"""
