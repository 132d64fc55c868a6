"""Why crawls end; beyond these there are the limits, `MAX_PAGES` and its like."""

from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.reason import Reason

FINISHED = Reason(EndCode.FINISHED)
FAILED = Reason(EndCode.FAILED)
UNREACHABLE = Reason(EndCode.NO_SERVER)
INTERRUPTED = Reason(EndCode.INTERRUPTED)
DISK_FULL = Reason(EndCode.DISK_FULL)
