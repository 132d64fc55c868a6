"""Who is told: how they are called where secrets must not stand, and what is known of them."""

import hashlib
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.config.secret_values import secret_of
from gossamer.config.watch_config import NotifyConfig
from gossamer.model.errors import ConfigError

__all__ = ["key_of", "receivers_of"]


def key_of(to: str) -> str:
    """The name of a receiver that may be shown and kept: of an address its scheme and host, for paths of webhooks and
    addresses of apprise hold secrets, with a few digits that tell it from others there."""
    if ":" not in to:
        return to
    if to.startswith("mailto:"):
        return to.partition("?")[0]
    try:
        parts = urlsplit(to)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, host, port = urlsplit(to.partition(":")[0] + ":"), "", ""
    if parts.scheme not in ("http", "https"):
        host, port = "", ""  # apprise has tokens there
    digits = hashlib.blake2b(to.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    return f"{parts.scheme}://{host}{port}#{digits}"


def receivers_of(
    config: CrawlConfig, environment: Mapping[str, str] | None = None
) -> dict[str, NotifyConfig]:
    """Everybody that watches name, by their keys, with secrets put in; who cannot be told so is left out."""
    found: dict[str, NotifyConfig] = {}
    for to in _named(config):
        receiver = config.notify.get(to, NotifyConfig(to=to))
        try:
            found[key_of(to)] = _with_secrets(receiver, environment)
        except ConfigError:
            continue
    return found


def _named(config: CrawlConfig) -> Iterable[str]:
    return dict.fromkeys([*(to for watch in config.watch for to in watch.notify), *config.notify])


def _with_secrets(receiver: NotifyConfig, environment: Mapping[str, str] | None) -> NotifyConfig:
    return msgspec.structs.replace(
        receiver,
        to=secret_of(receiver.to, environment),
        password=secret_of(receiver.password, environment),
    )
