"""Extractors that run in guarded processes."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from gossamer.extract.isolation.incomplete import IncompleteError
from gossamer.extract.isolation.processes import GuardedProcesses, Limits, Unanswered, Why
from gossamer.model.document import Document, Findings
from gossamer.model.errors import ConfigError
from gossamer.model.exchange import Headers
from gossamer.model.raised import Raised
from gossamer.model.url import Url
from gossamer.ports import Extractor

__all__ = ["IsolatedExtractors"]


class Question(msgspec.Struct, frozen=True):
    """A `Document`, and which extractor is to read it."""

    extractor: int
    url: Url
    media_type: str
    charset: str
    headers: list[tuple[str, str]]
    content: bytes
    listed: bool
    file: str | None = None


class Reads(msgspec.Struct, frozen=True):
    """What a worker process calls."""

    extractors: list[Extractor]

    def __call__(self, asked: Question) -> Findings:
        """What the extractor finds."""
        document = Document(
            asked.url,
            asked.media_type,
            asked.charset,
            Headers(asked.headers),
            asked.content,
            asked.listed,
            asked.file,
        )
        return self.extractors[asked.extractor].extract(document)


class IsolatedExtractors:
    """The extractors of a reader that say `isolated = True`, with the processes they share."""

    def __init__(self, extractors: Sequence[Extractor], limits: Limits | None = None) -> None:
        """Raises:
        ConfigError: another process cannot find them.
        """
        try:
            self._processes = GuardedProcesses(Reads(list(extractors)), Question, Findings, limits)
        except TypeError as error:
            raise ConfigError(f"extractors: an isolated extractor cannot be used: {error}") from error
        self.outside: dict[int, Extractor] = {
            id(one): _Outside(
                one.name, one.media_types, number, self._processes, getattr(one, "whole", False)
            )
            for number, one in enumerate(extractors)
        }

    def stands_for(self, extractor: Extractor) -> bool:
        """Whether asking `extractor` waits for a process."""
        return isinstance(extractor, _Outside)

    @property
    def threads(self) -> ThreadPoolExecutor:
        """Where to wait for them; as many threads as there are processes."""
        return self._processes.threads

    def close(self) -> None:
        """End the processes; nothing is read afterwards."""
        self._processes.close()


class _Outside(msgspec.Struct, frozen=True):
    """Stands for an extractor in this process. Blocks: call it in a thread."""

    name: str
    media_types: frozenset[str]
    number: int
    processes: GuardedProcesses[Question, Findings]
    whole: bool = False

    def extract(self, document: Document) -> Findings:
        """What the extractor finds.

        Raises:
            IncompleteError: nothing, and why.
        """
        file = document.file if self.whole else None
        answer = self.processes.ask(
            Question(
                self.number,
                document.url,
                document.media_type,
                document.charset,
                document.headers.fields,
                document.content if file is None else b"",
                document.listed,
                file,
            )
        )
        if isinstance(answer, Unanswered):
            faulty = answer.why in (Why.RAISED, Why.MALFORMED)
            raised = Raised(f"extractor {self.name}", answer.detail) if faulty else None
            raise IncompleteError(f"{answer.why}: {answer.detail}", raised)
        links = tuple([link for link in answer.links if Url.parse(link.url.text) == link.url])
        return answer if len(links) == len(answer.links) else msgspec.structs.replace(answer, links=links)
