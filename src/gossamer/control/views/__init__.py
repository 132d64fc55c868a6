"""What may be asked of a crawl that changes nothing, whether it runs or has stopped.

`views` lists them; `lookout` is what they look from. Each answers within a bounded time: `paging` cuts long
lists, and a census goes through hosts or queue in short steps.
"""
