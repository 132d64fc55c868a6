"""Copies a crawl to a store of objects while it goes on (the setting upload of [storage], docs/decisions/0043).

`proof` refuses a store that cannot be used before the crawl begins. `uploading` runs in a process beside the crawl: it
sends each archive file once that is whole, and, when the crawl has ended well, the rest: index, log, settings, state.
`ledger` remembers in the crawl's folder what the store holds, and becomes the manifest that lies there with it.

What must stay true: under its last name in the store nothing is ever half; what the ledger says is there, is there,
with that size; a kill at any moment costs at most one file that is looked at once more; and the crawl does not wait.
"""
