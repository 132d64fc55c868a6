"""Reads what crawls have archived, and answers questions in SQL, in processes of their own.

What is read was written by strangers, may be long, and is not to hold anybody up: `worker` is started for
one order, with limits on memory and time, and ends with it; `process` has it done for the daemon, a few at a
time, and passes on what it says in pieces. A worker opens the folder for reading, beside a crawl, too.
"""
