"""The one table from libcurl's result codes to faults."""

from gossamer.model.outcome import Fault

# Numbers rather than pycurl's names, several of which it lacks; they never change
# (https://curl.se/libcurl/c/libcurl-errors.html).
OPERATION_TIMED_OUT = 28

FAULTS: dict[int, Fault] = {
    1: Fault.PROTOCOL,  # UNSUPPORTED_PROTOCOL: HTTP/0.9, or no status line at all
    3: Fault.UNSUPPORTED,  # URL_MALFORMAT: a host that WHATWG allows, but no name server could hold
    5: Fault.PROXY_DOWN,  # COULDNT_RESOLVE_PROXY
    6: Fault.NAME_FAILED,  # COULDNT_RESOLVE_HOST
    7: Fault.CONNECT,  # COULDNT_CONNECT
    8: Fault.PROTOCOL,  # WEIRD_SERVER_REPLY: NUL, CR, no colon, contradicting lengths, status lines
    16: Fault.PROTOCOL,  # HTTP2: framing
    18: Fault.RESET,  # PARTIAL_FILE
    27: Fault.PROTOCOL,  # OUT_OF_MEMORY, also for absurd sizes
    OPERATION_TIMED_OUT: Fault.TIMEOUT,
    35: Fault.TLS,  # SSL_CONNECT_ERROR
    43: Fault.PROTOCOL,  # BAD_FUNCTION_ARGUMENT
    47: Fault.PROTOCOL,  # TOO_MANY_REDIRECTS, never followed
    52: Fault.RESET,  # GOT_NOTHING
    53: Fault.TLS,  # SSL_ENGINE_NOTFOUND
    54: Fault.TLS,  # SSL_ENGINE_SETFAILED
    55: Fault.RESET,  # SEND_ERROR
    56: Fault.RESET,  # RECV_ERROR
    58: Fault.TLS,  # SSL_CERTPROBLEM
    59: Fault.TLS,  # SSL_CIPHER
    60: Fault.TLS,  # PEER_FAILED_VERIFICATION
    61: Fault.PROTOCOL,  # BAD_CONTENT_ENCODING: a transfer coding that nobody asked for
    64: Fault.TLS,  # USE_SSL_FAILED
    66: Fault.TLS,  # SSL_ENGINE_INITFAILED
    77: Fault.TLS,  # SSL_CACERT_BADFILE
    80: Fault.TLS,  # SSL_SHUTDOWN_FAILED
    82: Fault.TLS,  # SSL_CRL_BADFILE
    83: Fault.TLS,  # SSL_ISSUER_ERROR
    90: Fault.TLS,  # SSL_PINNEDPUBKEYNOTMATCH
    91: Fault.TLS,  # SSL_INVALIDCERTSTATUS
    92: Fault.PROTOCOL,  # HTTP2_STREAM
    95: Fault.PROTOCOL,  # HTTP3
    96: Fault.CONNECT,  # QUIC_CONNECT_ERROR
    97: Fault.PROXY,  # PROXY: the SOCKS handshake failed
    98: Fault.TLS,  # SSL_CLIENTCERT
    100: Fault.HEAD_TOO_LARGE,  # TOO_LARGE: a header line beyond 100 KB, or 5,000 of them
    101: Fault.TLS,  # ECH_REQUIRED
}

# Where one code stands for several things, libcurl tells them apart in its message only.
PHRASES: tuple[tuple[int, str, Fault], ...] = (
    (7, "CONNECT tunnel failed, response 407", Fault.PROXY_DOWN),
    (7, "CONNECT tunnel failed", Fault.PROXY),
    (56, "chunk hex-length", Fault.PROTOCOL),
    (56, "Illegal or missing hexadecimal", Fault.PROTOCOL),
    (56, "Malformed encoding", Fault.PROTOCOL),
    (56, "chunk", Fault.PROTOCOL),
    (56, "Too large response headers", Fault.HEAD_TOO_LARGE),
    (56, "Too many response headers", Fault.HEAD_TOO_LARGE),
    (56, "CONNECT tunnel failed, response 407", Fault.PROXY_DOWN),
    (56, "CONNECT tunnel failed", Fault.PROXY),
    (97, "No authentication method", Fault.PROXY_DOWN),
    (97, "User was rejected", Fault.PROXY_DOWN),
    (OPERATION_TIMED_OUT, "too slow", Fault.TOO_SLOW),  # from `pace`
    (OPERATION_TIMED_OUT, "Connection timed out", Fault.CONNECT_TIMEOUT),
    (OPERATION_TIMED_OUT, "connection timeout", Fault.CONNECT_TIMEOUT),
    (OPERATION_TIMED_OUT, "Failed to connect", Fault.CONNECT_TIMEOUT),
    (OPERATION_TIMED_OUT, "Resolving timed out", Fault.CONNECT_TIMEOUT),  # never asked to, but has the phase
)

UNKNOWN = Fault.PROTOCOL


def fault_of(code: int, message: str) -> Fault:
    """The fault that a failed transfer amounts to, as far as its result alone tells."""
    for phrase_code, phrase, fault in PHRASES:
        if code == phrase_code and phrase in message:
            return fault
    return FAULTS.get(code, UNKNOWN)
