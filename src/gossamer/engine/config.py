"""Settings of the engine itself."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import Bytes, Seconds
from gossamer.policy.ordering.orders import ORDERS
from gossamer.policy.twins import TwinsMode
from gossamer.policy.urls.queue_key import QueueKind


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many visits go on at once, and when the crawl pauses or ends."""

    workers: Annotated[int, Meta(ge=1, le=10_000, description="visits at once over all hosts")] = 32
    order: Annotated[
        str, Meta(description=f"ordering policy: {', '.join(ORDERS)}, or the name of a plug-in")
    ] = "bfs"
    queue_key: Annotated[
        QueueKind,
        Meta(
            description="what shares one politeness: a host name, or a registrable domain with all its hosts"
        ),
    ] = "host"
    give_up_after: Annotated[
        Seconds,
        Meta(
            description="the crawl ends when nothing can fall due within this time; what waits longer is "
            "left, and 'gossamer resume' takes it up"
        ),
    ] = 90.0
    limit_grace: Annotated[
        Seconds,
        Meta(
            description="visits under way when a limit is reached have this long to end; then they are broken"
            " off, and 'gossamer resume' makes them again"
        ),
    ] = 10.0
    sitemaps: Annotated[bool, Meta(description="follow the sitemaps that robots files name")] = True
    guess_sitemap: Annotated[
        bool, Meta(description="ask a site whose robots file names no sitemap for /sitemap.xml, once")
    ] = True
    skip_duplicates: Annotated[
        bool,
        Meta(
            description="do not follow links of pages whose content was seen before; loses pages where "
            "equal pages lie in several directories"
        ),
    ] = False
    skip_canonical: Annotated[
        bool,
        Meta(
            description="do not follow rel=canonical, where a page says which URL is its own: what is only to"
            " be found there is the same page once more, if the site says the truth"
        ),
    ] = False
    twins: Annotated[
        TwinsMode,
        Meta(
            description="two hosts that show the same pages, as example.org and www.example.org may: 'tell' of them; "
            "'skip' what the one that was found first shows, or the seed's; 'off' does not look"
        ),
    ] = "tell"
    every_attempt: Annotated[
        bool, Meta(description="archive responses that will be asked for again, too")
    ] = False
    record_rejected: Annotated[
        bool,
        Meta(description="remember turned-away URLs with their finder, so that 'why' can tell; costs disk"),
    ] = True
    checkpoint_every: Annotated[
        Seconds, Meta(description="a power failure loses at most the work of this time; 0 for the end only")
    ] = 600.0
    nice: Annotated[
        bool,
        Meta(
            description="use only the CPU and disk time that nobody else wants, with all processes of the crawl (Linux;"
            " elsewhere the lowest priority); on a busy machine it may hardly get on"
        ),
    ] = False
    keep_checkpoints: Annotated[int, Meta(ge=1, description="checkpoints kept; older ones are removed")] = 2
    min_free_disk: Annotated[
        Bytes, Meta(description="below this much free disk the crawl checkpoints and stops")
    ] = 128 << 20
