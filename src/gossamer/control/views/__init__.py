"""What may be asked of a crawl that changes nothing, whether it runs or has stopped.

`views` lists them; `context` is what they look at. Each answers within a bounded time: `paging` cuts long
lists, and a `sweep` over all hosts goes on with each look. What they answer is made in `inspect`.
"""
