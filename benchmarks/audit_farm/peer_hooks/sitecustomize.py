"""Put before a Python tool that asks the system for names: the farm's names lead to the farm, others nowhere."""

import json
import os
import socket
from pathlib import Path

_names = json.loads(Path(os.environ["GOSSAMER_FARM_NAMES"]).read_text())
_ask = socket.getaddrinfo


def _getaddrinfo(host, *rest, **more):
    name = host.decode() if isinstance(host, bytes) else host
    if name is not None and not name.replace(".", "").isdigit():
        name = name.encode("idna").decode().lower()
        found = _names.get(name)
        if found is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if not found:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        host = found
    return _ask(host, *rest, **more)


socket.getaddrinfo = _getaddrinfo
os.geteuid = lambda: 1  # linkchecker would give up root's rights, and could then not read its own files
