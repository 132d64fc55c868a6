"""The catalogue of misbehaviours: what the web does to crawlers, each case on a host of its own.

Every case is a function from a `Stage` to a `Scene`. Its host has a front page, `/good-1.html` and
`/good-2.html` beside `/bad`, so that it shows whether trouble with one page harms the others. Where
correct visitors must agree on what `/bad` means, it alone leads to `/beyond.html`; where they need
not agree, it leads nowhere else, so that the ground truth stays exact.
"""

from collections.abc import Callable, Mapping

from gossamer.simweb.cases import (
    bodies,
    charsets,
    documents,
    framing,
    heads,
    hosts,
    links,
    names,
    redirects,
    robots_files,
    traps,
)
from gossamer.simweb.cases.stage import Stage
from gossamer.simweb.world.resource import Scene

__all__ = ["CASES", "Stage"]

CASES: Mapping[str, Callable[[Stage], Scene]] = {
    name: case
    for module in (
        framing, heads, bodies, documents, links, charsets, redirects, robots_files, hosts, names, traps,
    )
    for name, case in module.CASES.items()
}  # fmt: skip
"""Case by name, which is also its host's first label."""
