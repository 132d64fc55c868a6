"""Searches what jobs have crawled, in processes of their own that keep the indexes open.

What is asked for was typed by anybody, and what is found was written by strangers: neither holds the daemon up.
`searcher` answers line by line, within limits on memory and time, and goes when nobody asks; `searchers` has it done
for the daemon, by a few of them.
"""
