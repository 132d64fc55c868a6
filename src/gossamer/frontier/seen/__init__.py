"""Which URLs were ever admitted: exact on disk (`exact`), or by hashes and a Bloom filter (`bloom`) (W13).

`visited` is the port with the choice between them; `filter` spares look-ups of what is new.
"""
