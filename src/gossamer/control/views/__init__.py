"""What may be asked of a crawl that changes nothing, whether it runs or has stopped.

`views` lists them; `context` is what they look at. Each answers within a bounded time: `paging` cuts long
lists, and a census goes through hosts or queue in short steps.
"""
