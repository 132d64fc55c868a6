"""What may be changed while a crawl runs: settings, hosts, seeds, pauses.

`changeable` says which settings, and checks changes as a whole; `applier` applies them; `background` walks
through the state where a change concerns what is queued; `change_log` keeps who changed what. A change is
made whole or not at all.
"""
