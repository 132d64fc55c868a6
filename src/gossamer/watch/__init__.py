"""Tells people what has changed: watches on pages of a crawl, and notices of what became of them.

A follower of the archive, as documents and search are, in a process of its own: it reads each record once, from its
mark on. `watches` are the settings read; `seen` makes of a record what a watch looks at; `observing` compares that
with what was seen before; what follows (the new state, notices, to whom they are owed) and the mark are one commit of
`store`, in `DIR/watch/`. `outbox` puts what is owed together to messages and has them delivered by `channels`; `feed`
gives the last ones as Atom. `following` runs all of it; `shown` reads it for people, while it runs or not.

What must stay true: a notice follows from a record once, whatever is killed; a message has an id before it is sent
the first time, so a receiver that keeps ids gets each once, and everybody else at least once.
"""
