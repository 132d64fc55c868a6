"""What one document says: pure functions from its bytes to text, data and links.

Nothing here knows a crawl, a frontier or the network, and nothing is asynchronous: `reading.read` and
`reading.links_of` are run in processes with limits on time and memory. The libraries of the extra `documents`
are loaded by the format that needs them, when it first does.
"""
