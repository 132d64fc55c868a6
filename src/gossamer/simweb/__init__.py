"""A deterministic simulated web on loopback, HTTP and DNS, for demonstration, tests and benchmarks.

**How the world is made.** A `WorldSpec` and a URL decide every byte: `atlas` says where hosts and pages
lie, `site` what stands on ordinary hosts, `cases` what the web's misbehaviours look like, each on a host
of its own. Nothing is stored; a web of 200,000 hosts costs no more than one of ten.

**How it speaks.** `service` puts a world and its few counters (the first visits that fail) behind
`server` and `names`; `SimulatedWeb` runs both in a process of their own and hands out the visit log,
`Hosting` runs them in this one.

**How it judges.** `truth` walks the same data that the server writes down as HTML, and says which URLs a
correct crawl under given `CrawlRules` must fetch, which it must not, and why.

Nothing here imports any other room: a judge that shares code with the judged shares its errors.
"""

from gossamer.simweb.servers.hosting import Hosting
from gossamer.simweb.servers.serve import SimulatedWeb
from gossamer.simweb.servers.visits import Question, Visit
from gossamer.simweb.world.resource import Speech
from gossamer.simweb.world.spec import WorldSpec
from gossamer.simweb.world.truth import CrawlRules, Differences, Truth, truth

__all__ = [
    "CrawlRules",
    "Differences",
    "Hosting",
    "Question",
    "SimulatedWeb",
    "Speech",
    "Truth",
    "Visit",
    "WorldSpec",
    "truth",
]
