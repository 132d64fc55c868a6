"""In which order the URLs of a host are visited (W4, W16, K5, K18).

`ordering` is the interface with breadth and depth first; `best`, `opic` and `focus` give each URL a worth
as links arrive; `orders` has them by name.
"""
