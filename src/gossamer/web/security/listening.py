"""Refuses to listen where strangers could reach a daemon that asks nobody who they are."""

import logging

from gossamer.daemon.security_config import SecurityConfig
from gossamer.model.errors import ConfigError
from gossamer.web.security.accounts import Accounts
from gossamer.web.security.own_name import is_loopback

_LOG = logging.getLogger(__name__)


def check_listening(accounts: Accounts, config: SecurityConfig, host: str) -> None:
    """Compare where the daemon is to listen with who may log in; warn if passwords would go unencrypted.

    Raises:
        ConfigError: it would be reachable from elsewhere, and there is no account; or there were accounts.
    """
    if accounts.any():
        accounts.note()
        if not is_loopback(host) and not config.certificate:
            _LOG.warning(
                "%s: passwords and tokens go over the network as they are. Set security.certificate and"
                " security.private_key, or listen on 127.0.0.1 behind a proxy that speaks HTTPS.",
                host,
            )
        return
    if accounts.mark.exists():
        raise ConfigError(
            f"{accounts.mark.parent}: there were accounts here, but service.db knows of none. Restore it from"
            " a copy, or make an account anew: gossamer serve-user add NAME --role operator; to serve without"
            f" log-ins remove {accounts.mark}"
        )
    remedy = "Make an account first: gossamer serve-user add NAME --role operator"
    if not is_loopback(host):
        raise ConfigError(f"listen.host: {host} can be reached from other machines. {remedy}")
    if config.allowed_hosts:
        raise ConfigError(
            f"security.allowed_hosts: names {', '.join(config.allowed_hosts)}: requests come from other"
            f" machines. {remedy}"
        )
