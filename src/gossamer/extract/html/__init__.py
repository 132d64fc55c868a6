"""Reads HTML in linear time: links, title and what else a page says of itself.

`document` is the extractor over `tokens`, the start tags that can matter; `tags` says what each means. No
tree is built.
"""
