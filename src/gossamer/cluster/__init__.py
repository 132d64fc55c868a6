"""Many agents, one crawl: who owns which hosts, links that travel, snapshots that survive a machine.

Every agent is an ordinary crawl. The *coordinator* maps shards of hosts to agents (`coordination`), each
agent *renews* its tenure with it every second (`protocol`) and lends nothing that it cannot prove to own.
The extra `cluster` brings what this room needs; nothing but the command line imports it.
"""
