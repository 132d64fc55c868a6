"""Logs in where a recipe says how, notices when a session has ended, and keeps guests' pages out of the archive.

`config` is a recipe as it is written, `marks` tells members' pages from guests', `log_in` goes through the forms,
`sessions` is the protocol module that does all this around the visits of a place.
"""
