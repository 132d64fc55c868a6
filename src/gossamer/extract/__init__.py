"""Bytes to Page: media type, charset, extractors, findings put together. Pure; everything is bounded and
linear.

**How a body becomes a page.** `Reader.read` asks `media_type` what the bytes are, `charset_of` how they are
encoded, and `Registry` who reads them. Each extractor answers with `Findings`. What several say is
merged: the first word on a title counts, links add up, the strictest directive holds.

**How a link is made.** A scanner (`html.tokens`, `css`, `feeds.xml_elements`) finds mentions; `html.tags`
knows what each is for; `LinkMaker` decodes, resolves and remembers them.

**What may hang or crash** runs in `isolation`, processes with limits of time and memory.
"""
