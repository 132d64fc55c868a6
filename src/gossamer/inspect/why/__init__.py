"""Tells the life of one URL: how it was found, which rule decided, where it stands, what each visit did.

`story` puts it together; `place` finds the queue it waits in, `priority` says why there, and `whole` asks
the agent of a cluster that knows it best. What is told are sentences as data (`sentences`), so that other
languages have their own.
"""
