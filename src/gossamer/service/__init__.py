"""Many crawls in one daemon: jobs as processes, resources without deadlock, an interface over HTTP.

The extra `console` brings what this room needs; nothing else of Gossamer imports it.
"""
