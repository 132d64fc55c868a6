"""Many crawls in one process: jobs, each with a process of its own, under one set of limits.

`daemon` opens the folder, finds what still runs and takes requests; `jobs` knows and cares for each crawl;
`allocation` hands out memory, connections and bandwidth so that every job can always end; `clusters`
watches those that run elsewhere. What must outlive the daemon is in one SQLite file (`database`, `store`).
The web interface is a layer above (`web`): the daemon knows nothing of HTTP. If it is killed, the crawls go
on, and the next daemon finds them.
"""
