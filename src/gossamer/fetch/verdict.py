"""Decides what a finished transfer amounts to."""

import pycurl

from gossamer.fetch.faults import OPERATION_TIMED_OUT, fault_of
from gossamer.fetch.transfer import Transfer
from gossamer.model.exchange import Truncation
from gossamer.model.outcome import Failed, Fault

PROXY_AUTHENTICATION = 407
NOT_CONNECTED = frozenset({Fault.CONNECT, Fault.CONNECT_TIMEOUT, Fault.NAME_FAILED})


def judge(transfer: Transfer, code: int, message: str, *, proxied: bool) -> Truncation | Failed | None:
    """`None`: whole. A truncation: what there is should be kept. `Failed`: no usable response.

    | head     | body | how it ended                  | verdict               |
    |----------|------|-------------------------------|-----------------------|
    | partial  | -    | anything                      | Failed                |
    | complete | any  | well                          | whole                 |
    | complete | any  | body limit                    | LENGTH                |
    | complete | any  | time limit, too slow          | TIME                  |
    | complete | some | connection or protocol broke  | DISCONNECT            |
    | complete | none | connection or protocol broke  | Failed                |

    Raises:
        StorageError: the body could not be kept.
    """
    if transfer.storage_error is not None:
        raise transfer.storage_error
    head = transfer.head
    if not head.complete:
        return _without_head(transfer, code, message, proxied=proxied)
    if proxied and head.status == PROXY_AUTHENTICATION:
        return Failed(Fault.PROXY_DOWN, "the proxy wants other credentials (407)")
    if code == 0:
        return None
    if transfer.cut:
        return Truncation.LENGTH
    if code == OPERATION_TIMED_OUT:
        return Truncation.TIME
    if transfer.writer.size:
        return Truncation.DISCONNECT
    if head.excess:
        return Failed(Fault.HEAD_TOO_LARGE, head.excess)
    return Failed(fault_of(code, message), detail_of(code, message))


def _without_head(transfer: Transfer, code: int, message: str, *, proxied: bool) -> Failed:
    if transfer.head.excess:
        return Failed(Fault.HEAD_TOO_LARGE, transfer.head.excess)
    if code == 0:
        # libcurl takes a connection that closes inside the head for a response without a body.
        if transfer.head.status:
            return Failed(Fault.PROTOCOL, f"status {transfer.head.status} is no final response")
        return Failed(Fault.RESET, "the connection ended inside the head")
    fault = fault_of(code, message)
    if transfer.sockets.refused and fault is Fault.CONNECT:
        return Failed(Fault.ADDRESS_FORBIDDEN, transfer.sockets.refused)
    if proxied and (
        (fault in NOT_CONNECTED and not transfer.easy.getinfo(pycurl.CONNECT_TIME))
        or (fault is Fault.TLS and transfer.greets_proxy)
    ):
        fault = Fault.PROXY_DOWN
    elif proxied and (fault in NOT_CONNECTED or (transfer.head.expects_tunnel and fault is Fault.RESET)):
        fault = Fault.PROXY
    return Failed(fault, transfer.sockets.trouble or detail_of(code, message))


def detail_of(code: int, message: str) -> str:
    """One printable line; libcurl quotes what the peer sent in some messages."""
    text = "".join(character if character.isprintable() else "?" for character in message[:200])
    return text or f"libcurl error {code}"
