"""The archive: what was fetched, in WARC 1.1 files that any tool can read.

**How a visit is kept.** `records` turns an exchange into records: response (or revisit), request, metadata.
`head` makes HTTP heads fit for storage. `writer` compresses each record into a gzip member of its own and
hands it to the system before it returns. `Placed` tells the state where the record stands.

**How a file lives.** It is named `*.warc.gz.open` until it is full, synced and renamed. The state keeps
an `ArchiveFile` for each, with the length that was committed; after a crash `recovery` cuts files back to it.

**How it is found again.** `cdxj` makes the index lines, with keys from `surt`; `reader` reads one record;
`verify` reads them all and names what is wrong. Both take records apart in `scan`.

**How it is followed.** `follower` gives records in their order as far as `committed` says, from a mark on, to
whatever is derived from them; a mark outlives kills of either side, and a return to a checkpoint is told.
"""
