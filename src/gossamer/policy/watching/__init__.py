"""What of a page somebody wants to be told, and when: pure decisions about watches.

`conditions` are said of a text and tell when one begins to hold; `quiet` is the time of day in which nobody is to be
told; `retries` says what follows from an attempt to tell that failed; `difference` shows what has changed.
"""
