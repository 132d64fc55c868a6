"""What one archived document says, made when it is asked for."""

from gossamer.datasets.beside import prove_documents
from gossamer.datasets.deriving import Answer, Question, Reads
from gossamer.documents.config import DocumentsConfig
from gossamer.documents.limits import ReadingLimits
from gossamer.documents.said import DocumentText
from gossamer.extract.isolation.processes import GuardedProcesses, Limits, Unanswered
from gossamer.model.errors import StorageError
from gossamer.model.exchange import Headers


def said_by(url: str, headers: Headers, content: bytes) -> DocumentText:
    """Read a document in a guarded process.

    Args:
        url: where it was found.
        headers: of the response.
        content: content codings undone.

    Raises:
        ConfigError: the extra 'documents' is not installed.
        StorageError: it took too long or too much memory; it can be had as it is.
    """
    prove_documents(DocumentsConfig(follow=True))
    processes = GuardedProcesses(Reads(ReadingLimits(), []), Question, Answer, Limits(processes=1))
    try:
        answer = processes.ask(Question(url, headers.get("content-type"), content))
    finally:
        processes.close()
    if isinstance(answer, Unanswered):
        raise StorageError(f"{url}: nothing could be read of it ({answer.why}: {answer.detail})")
    return answer.said
