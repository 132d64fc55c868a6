"""A toy that follows a crawl's archive: copies titles into a database, each in one commit with the mark.

Run as a program: `python title_follower.py CRAWL DATABASE [--once]`. Dies wherever it is killed.
"""

import re
import sqlite3
import sys
import time
from pathlib import Path

import msgspec

from gossamer.archive.follower import START, Mark, Rewound, Unreadable
from gossamer.inspect.archive.following import follow
from gossamer.model.errors import GossamerError

TITLE = re.compile(rb"<title>([^<]*)", re.IGNORECASE)


def title_of(record) -> str:
    start = b""
    for piece in record.payload():
        start += piece
        if len(start) > 4_096:
            break
    found = TITLE.search(start)
    return found[1].decode("utf-8", "replace") if found else ""


def main(crawl: Path, database: Path, *, once: bool) -> None:
    to = sqlite3.connect(database)
    with to:
        to.execute("create table if not exists titles (serial, place, record, url, status, title)")
        to.execute("create table if not exists mark (mark)")
    kept = to.execute("select mark from mark").fetchone()
    follower = follow(crawl, msgspec.json.decode(kept[0], type=Mark) if kept else START)
    while True:
        try:
            for item in follower.read():
                with to:
                    match item:
                        case Rewound(to=mark):
                            to.execute("delete from titles where (serial, place) >= (?, ?)", mark.place)
                        case Unreadable(after=mark):
                            raise AssertionError(item)
                        case record:
                            row = record.serial, record.offset, record.record_id, record.url, record.status
                            to.execute(
                                "insert into titles values (?, ?, ?, ?, ?, ?)", (*row, title_of(record))
                            )
                            mark = record.finish()
                    to.execute("delete from mark")
                    to.execute("insert into mark values (?)", (msgspec.json.encode(mark),))
        except GossamerError as error:  # being made, or being exchanged
            if once:
                raise
            print(error, file=sys.stderr)
        if once:
            return
        time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), once="--once" in sys.argv)
