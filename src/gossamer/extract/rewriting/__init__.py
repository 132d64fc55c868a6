"""Gives documents other addresses and leaves every other byte as it was.

`html` and `css` find where each address stands, by the scans that find links, and ask who knows (`Relinking`)
what is to stand there; `edits` puts it in.
"""
