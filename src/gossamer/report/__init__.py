"""The report of a crawl, running or stopped: figures, gathered once, as a page or for programs.

`census` gathers the figures in one pass over log and state; `page` puts the chapters together from `parts`;
`charts` draws without script; `words`, a room of its own, says it. What came from the web is escaped in one
place (`markup`).
"""

from gossamer.report.census.gather import gather, log_census
from gossamer.report.census.log import LogCensus
from gossamer.report.figures import Figures
from gossamer.report.page import REPORT_CSS, report_body, report_page, write_report

__all__ = [
    "REPORT_CSS",
    "Figures",
    "LogCensus",
    "gather",
    "log_census",
    "report_body",
    "report_page",
    "write_report",
]
