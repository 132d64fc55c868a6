"""Answers kept in a few dozen bytes each, shared by the crawler processes of a machine (D1-D6).

**A name becomes a key** of 76 bits (`key`): top-level domain, registrable part, rest, in this order, so
that what belongs together lies together. **An answer becomes a value** (`entry`): expiry, time to live,
addresses as integers, and a keyed check over the full name, because hashes collide and murmur3 can be made
to. **Both lie in LMDB** (`store`), which processes share and which a killed writer does not harm; `folder`
decides what may be trusted from an earlier run. **Names known not to exist** lie in a Bloom filter of each
process (`negative`). `cache` puts these together.
"""
