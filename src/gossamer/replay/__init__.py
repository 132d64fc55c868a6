"""Shows an archive in a browser as it was crawled: a server on loopback that answers from the archive alone.

A request comes in at [the door](server.py), which goes by the name that the browser used: the list's own
address leads to [the list](catalogue.py) and the calendar, a [name of a replayed origin](names.py) to the
archive. There [the archive](archive.py) finds the best capture of the URL, [answers](answers.py) makes of it a
response whose head holds nothing that steers the browser, and [rewriting](rewriting/__init__.py) turns addresses
of other origins into such names. What scripts ask for goes the same way by [replay.js](static/replay.js), which
every page begins with.

What must stay true: each archived origin is a browser's origin of its own, never that of the list, the console
or the daemon; each answer says what it may load, which is names of this server only, so what is not rewritten
fails inside; the archive is only read.
"""
