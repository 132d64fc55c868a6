"""Fetching: protocol modules over libcurl that turn a lease into an outcome.

**A visit.** `http.HttpModule` asks for a proxy where there are any (`proxies`), the resolver (`route`) and the
address guard (`guard`), takes a pooled handle (`transfer`, its constant options in `options`), and waits while
`multi` drives libcurl on the event loop. Lines of the head go to `head`, the body to `body`. When the transfer
ends, `verdict` decides what it amounts to, by the one table of `faults`. Of a long body that broke off
`unfinished` keeps the `beginning`, which the next visit goes on with if what comes is surely the rest.
`alternatives` knows where HTTP/3 is asked for.

**Content.** The body stays as it came over the wire; `decoding` undoes content codings for those who
read it, within bounds.

**What may be raised.** `StorageError`, when our own disk cannot take a body. Failures of the network
are values.
"""
