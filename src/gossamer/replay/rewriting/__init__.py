"""Changes the addresses of other origins in what is replayed, and leaves every other byte as it was.

Only the origin of an absolute address is replaced, where it stands; relative addresses are right as they are,
because each origin is replayed as one. [addresses](addresses.py) replaces one, [markup](markup.py) finds them in HTML,
XHTML and drawings; what changes is put in by `extract/rewriting`, as for a mirror. A missed one does no harm but to
the page: the policy that each answer brings forbids it to leave.
"""
