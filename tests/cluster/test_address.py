"""What a command says whose cluster is no more."""

import socket

import pytest

from gossamer.cluster.address import ADDRESS, address_of
from gossamer.model.errors import ConfigError


def test_where_somebody_listens(tmp_path):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{server.getsockname()[1]}"
        (tmp_path / ADDRESS).write_text(address)
        with pytest.raises(ConfigError, match=r"does not answer at .* resume"):
            address_of(tmp_path)
        server.listen()
        assert address_of(tmp_path) == address


@pytest.mark.parametrize("damaged", ["", "127.0.0.1", "127.0.0.1:99999999", "127.0.0.1:x"])
def test_an_address_that_is_none(tmp_path, damaged):
    (tmp_path / ADDRESS).write_text(damaged)
    with pytest.raises(ConfigError, match="does not answer"):
        address_of(tmp_path)


def test_nothing_was_started(tmp_path):
    with pytest.raises(ConfigError, match="nothing runs there"):
        address_of(tmp_path)
