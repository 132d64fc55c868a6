"""What one document says, made when it is asked for."""

import threading

from gossamer.datasets.beside import prove_documents
from gossamer.datasets.deriving import Answer, Question, Reads
from gossamer.documents.config import DocumentsConfig
from gossamer.documents.limits import ReadingLimits
from gossamer.documents.said import DocumentText
from gossamer.extract.isolation.processes import GuardedProcesses, Limits, Unanswered
from gossamer.fetch.decoding import Decoded
from gossamer.model.errors import ConfigError
from gossamer.model.exchange import Exchange, Headers

__all__ = ["DocumentReader", "said_by", "text_in"]


class DocumentReader:
    """Reads one document after another in a guarded process, which is started by the first."""

    def __init__(self, config: DocumentsConfig) -> None:
        """`config`: says how much time and memory a document may take."""
        self._limits = Limits(processes=1, seconds=config.seconds, memory=config.memory)
        self._lock = threading.Lock()
        self._processes: GuardedProcesses[Question, Answer] | None = None

    def ask(
        self, url: str, headers: Headers, content: bytes, *, part: bool = False
    ) -> DocumentText | Unanswered:
        """What a document says. Blocks, for as many seconds as the configuration says at most.

        Args:
            url: where it was found.
            headers: of the response.
            content: content codings undone.
            part: it is known to be less than the document.

        Raises:
            ConfigError: the extra 'documents' is not installed.
        """
        prove_documents(DocumentsConfig(follow=True))
        with self._lock:
            if self._processes is None:
                self._processes = GuardedProcesses(Reads(ReadingLimits(), []), Question, Answer, self._limits)
            answer = self._processes.ask(Question(url, headers.get("content-type"), content, part))
        return answer if isinstance(answer, Unanswered) else answer.said

    def close(self) -> None:
        """End the process; a document that is asked for later starts another."""
        with self._lock:
            processes, self._processes = self._processes, None
        if processes is not None:
            processes.close()


def said_by(url: str, headers: Headers, content: bytes, *, part: bool = False) -> DocumentText | Unanswered:
    """Read a document in a guarded process of its own; arguments as those of `DocumentReader.ask`.

    Raises:
        ConfigError: the extra 'documents' is not installed.
    """
    reader = DocumentReader(DocumentsConfig())
    try:
        return reader.ask(url, headers, content, part=part)
    finally:
        reader.close()


def text_in(exchange: Exchange, decoded: Decoded) -> str:
    """The text of a document; nothing if it has none, cannot be read, or the extra 'documents' is not installed."""
    try:
        said = said_by(exchange.url.text, exchange.headers, decoded.content, part=decoded.truncated)
    except ConfigError:
        return ""
    return "" if isinstance(said, Unanswered) else said.text.text
