"""Protocol modules that are made for the first URL of their schemes."""

import asyncio
from types import SimpleNamespace

from gossamer.assembly.build import _fetching
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.http import LocalFetch
from gossamer.fetch.loaded_late import LoadedLate
from gossamer.model.raised import name_of


def test_it_is_made_once_for_the_first_url_and_closed_if_it_was():
    done = []

    class Module:
        schemes = frozenset({"file"})

        async def fetch(self, lease):
            done.append(lease)
            return lease

        async def close(self):
            done.append("closed")

    def make():
        done.append("made")
        return Module()

    async def used(*leases):
        late = LoadedLate("Module", frozenset({"file"}), make)
        answers = [await late.fetch(lease) for lease in leases]
        await late.close()
        return answers

    assert asyncio.run(used()) == []
    assert done == []
    assert asyncio.run(used(1, 2)) == [1, 2]
    assert done == ["made", 1, 2, "closed"]


def test_each_has_the_name_and_the_schemes_of_what_it_makes(tmp_path):
    async def made():
        resolver = SimpleNamespace()
        http, others = _fetching(
            FetchConfig(), resolver, AddressGuard(FetchConfig()), tmp_path, LocalFetch(), None
        )
        inner = [late._make() for late in others]
        pairs = [
            ((name_of(late), late.schemes), (name_of(module), module.schemes))
            for late, module in zip(others, inner, strict=True)
        ]
        for module in (http, *inner, *others):
            await module.close()
        return pairs

    pairs = asyncio.run(made())
    assert [late for late, _ in pairs] == [module for _, module in pairs]
    assert frozenset().union(*(schemes for (_, schemes), _ in pairs)) == {"file", "ftp", "ftps", "sftp"}
