"""Questions to name servers through c-ares: one attempt after another, both address families side by side.

`name_lookup` is one name on its way, `question` one family of it, `channel` one server, and `servers` the order
to ask them.
"""
