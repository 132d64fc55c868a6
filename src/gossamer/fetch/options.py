"""The libcurl options that are the same for every visit."""

import math
import ssl

import pycurl

from gossamer.fetch.config import FetchConfig

_RECEIVE_BUFFER = 64 << 10
_CONNECTION_LIFE = 600  # seconds; a kept-alive connection ignores that its name has moved


def configure(easy: pycurl.Curl, config: FetchConfig) -> None:
    """Set them on a new handle, which connects directly until `configure_proxy` says otherwise."""
    version = pycurl.CURL_HTTP_VERSION_2TLS if config.http2 else pycurl.CURL_HTTP_VERSION_1_1
    web = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
    constant = {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: web,
        pycurl.REDIR_PROTOCOLS: web,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.NETRC: pycurl.NETRC_IGNORED,
        pycurl.PATH_AS_IS: 1,
        pycurl.HTTP_VERSION: version,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.BUFFERSIZE: _RECEIVE_BUFFER,
        pycurl.MAXLIFETIME_CONN: _CONNECTION_LIFE,
        pycurl.SSL_VERIFYPEER: int(config.verify_tls),
        pycurl.SSL_VERIFYHOST: 2 if config.verify_tls else 0,
        # Set in any case, so that the environment is not asked.
        pycurl.PROXY: "",
        pycurl.NOPROXY: "",
    }
    for option, value in constant.items():
        easy.setopt(option, value)
    for option, place in zip((pycurl.CAINFO, pycurl.CAPATH), _certificates(config), strict=True):
        if place:
            easy.setopt(option, place)


def set_times(easy: pycurl.Curl, config: FetchConfig) -> None:
    """Set the options that may differ from one visit to the next."""
    easy.setopt(pycurl.CONNECTTIMEOUT_MS, _milliseconds(config.connect_timeout))
    easy.setopt(pycurl.TIMEOUT_MS, _milliseconds(config.visit_timeout))
    # Our entries must outlive a late second connection attempt of the same visit.
    easy.setopt(pycurl.DNS_CACHE_TIMEOUT, math.ceil(config.visit_timeout) + 1)


def system_certificates() -> tuple[str | None, str | None]:
    """(file, folder) of trusted certificates; a pycurl wheel would look where its builder had them."""
    paths = ssl.get_default_verify_paths()
    return paths.cafile, paths.capath


def configure_proxy(easy: pycurl.Curl, config: FetchConfig, proxy: str) -> None:
    """Have a handle go by `proxy`, unless that is empty."""
    if not proxy:
        return
    easy.setopt(pycurl.PROXY, proxy)
    # Basic alone is sent at once, without waiting for a 407.
    easy.setopt(pycurl.PROXYAUTH, pycurl.HTTPAUTH_BASIC)
    easy.setopt(pycurl.PROXY_SSL_VERIFYPEER, int(config.verify_tls))
    easy.setopt(pycurl.PROXY_SSL_VERIFYHOST, 2 if config.verify_tls else 0)
    for option, place in zip((pycurl.PROXY_CAINFO, pycurl.PROXY_CAPATH), _certificates(config), strict=True):
        if place:
            easy.setopt(option, place)


def _certificates(config: FetchConfig) -> tuple[str | None, str | None]:
    """(file, folder) of the certificates that are trusted."""
    return (config.ca_file, None) if config.ca_file else system_certificates()


def _milliseconds(seconds: float) -> int:
    # 0 means "for ever" to libcurl.
    return max(1, round(seconds * 1000))
