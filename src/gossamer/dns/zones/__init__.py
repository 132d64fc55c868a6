"""The zoned name cache (Z3-Z6): fast answers by domain, slow ones and failures by weight.

**Where an answer goes.** `cache` looks at how long it took: a success faster than `fast_below` enters the
`forward` zone; a slower one, and every failure, the `backward` zone. A name stands in one zone at most.

**How the forward zone keeps it.** A first hash table leads from a registrable domain to the `tree` of its
names; a second one from a name to its addresses. Of names of the third level, the half that was asked for
longest ago leaves when there are too many; of the others, the one asked for longest ago.

**How the backward zone keeps it.** A third hash table leads from a name to its place in the collision
`area`, which stands in descending `weight`. From time to time what has become light and was not renewed
leaves, and so does a failure whose time is over.

Addresses outlive their time to live in both zones, for the day when no name server answers (RFC 8767).
"""
