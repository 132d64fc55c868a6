"""The running crawl answers: what it is doing, why, and what it shall do from now on.

**Where it listens.** On the Unix socket `control.sock` in its folder, for its owner alone. One JSON line is
one request, one line the answer (`protocol`); `client` is the other end.

**What may be asked.** Views read the state and work on a stopped crawl too (`views`, on a `Lookout`);
operations change the crawl that runs (`operations`). Nothing is reckoned while nobody asks, but one line of
history every ten seconds.

**What a change is.** It is checked as a whole, noted with who and when in `changes.jsonl`, written into
`crawl.toml`, then applied. It can be undone.
"""
