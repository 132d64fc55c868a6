"""Settings that name plug-ins of other packages."""

from typing import Annotated

import msgspec
from msgspec import Meta

_ENTRY = "; names of entry points in the group"


class PluginConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Code of installed packages that takes part in the crawl (`gossamer.ports`).

    Only names of entry points, never of modules: whoever may write settings may not thereby run any code.
    """

    scope_rules: Annotated[
        tuple[str, ...], Meta(description=f"asked after the scope's own rules{_ENTRY} gossamer.scope_rules")
    ] = ()
    observers: Annotated[
        tuple[str, ...], Meta(description=f"hear every event{_ENTRY} gossamer.observers")
    ] = ()
    sinks: Annotated[
        tuple[str, ...], Meta(description=f"take every settled visit{_ENTRY} gossamer.sinks")
    ] = ()
    protocol_modules: Annotated[
        tuple[str, ...],
        Meta(
            description=f"fetch schemes that scope.schemes knows, instead of ours{_ENTRY} gossamer.protocol_modules"
        ),
    ] = ()
    address_rules: Annotated[
        tuple[str, ...],
        Meta(description=f"may forbid addresses that are allowed otherwise{_ENTRY} gossamer.address_rules"),
    ] = ()
    revisits: Annotated[
        str,
        Meta(
            description="says when a URL that was visited is due again; name of an entry point in the group "
            "gossamer.revisits"
        ),
    ] = ""
    resolver: Annotated[
        str,
        Meta(
            description="answers names instead of the name servers; name of an entry point in the group "
            "gossamer.resolvers"
        ),
    ] = ""
    name_cache: Annotated[
        str,
        Meta(
            description="keeps answers instead of dns.cache; name of an entry point in the group "
            "gossamer.name_caches"
        ),
    ] = ""
