"""The queues of all hosts: on disk, and in memory while a host is being served.

`queue_table` puts entries where they belong, `wake` has the order in which hosts fall due, `active_hosts` takes
them into memory and `host_schedule` says whose turn it is. Memory holds the hosts being served and nothing that
grows with the crawl.
"""
