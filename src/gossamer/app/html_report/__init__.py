"""The report of a crawl, running or stopped: figures, gathered once, as a page or for programs."""

from gossamer.app.html_report.figures import Figures
from gossamer.app.html_report.gather import gather, log_census
from gossamer.app.html_report.log_census import LogCensus
from gossamer.app.html_report.page import REPORT_CSS, report_body, report_page, write_report
from gossamer.app.html_report.words import LANGUAGES

__all__ = [
    "LANGUAGES",
    "REPORT_CSS",
    "Figures",
    "LogCensus",
    "gather",
    "log_census",
    "report_body",
    "report_page",
    "write_report",
]
