"""Writes a crawl as one WACZ file: archive, index, page lists and digests in a ZIP that players open.

`container` is the ZIP with the digest of each member, `index` the captures in blocks, `pages` the lists of pages;
`writing` puts them together. What must stay true: archive files go in byte by byte as far as they are committed,
memory does not grow with the crawl, and the file is whole or not there.

Source: "Web Archive Collection Zipped (WACZ)" 1.1.1 (Webrecorder).
"""
