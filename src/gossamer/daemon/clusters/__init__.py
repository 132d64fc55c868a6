"""Clusters that the daemon shows; it neither starts nor keeps them.

A process of `gossamer cluster answer` is in Ray in the daemon's place, for as long as somebody looks.
"""
