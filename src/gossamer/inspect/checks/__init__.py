"""Verifies that archive, index and state of a crawl agree, for one folder or for a cluster's agents.

Each problem is named once, with what to do about it. What `resume` would refuse is found here, too.
"""
