"""Runs a crawl: for the command line and the daemon (`run`), and as the Python interface (`interface`).

A run locks the folder, reads or writes its configuration, builds the crawl, has it answer on its control
socket, waits for its end, and writes `report.json`. The Python interface is the same run with its pages
handed out one by one. Both leave a folder from which `resume` goes on, however they end.
"""
