"""How far the tables of documents are behind the archive."""

from gossamer.archive.committed import committed
from gossamer.archive.follower import START, standing
from gossamer.datasets.derived import FOLDER, state_of
from gossamer.inspect.inspection import Inspection
from gossamer.state.environment import Family


def unread(inspection: Inspection) -> int:
    """Captures that are committed to the archive and that the tables of documents do not tell of yet.

    Of a cluster those of all agents that are here. Some microsecond for each capture.

    Raises:
        StorageError: a state cannot be read.
    """
    count = 0
    for part in inspection.each.values():
        state = state_of(part.folder.path / FOLDER)
        archive = committed(part.environment)
        serial, offset = standing(state.mark if state else START, archive).place
        if archive.files and (serial, offset) >= (archive.files[-1].serial, archive.files[-1].length):
            continue
        for key, _ in part.environment.scan(Family.CAPTURES):
            of, at = key.rpartition(b" ")[2].split(b":")
            count += (int(of), int(at)) >= (serial, offset)
    return count
