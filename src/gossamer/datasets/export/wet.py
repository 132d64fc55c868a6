"""Texts as WARC files of `conversion` records, as Common Crawl publishes them (WET).

Sources: "The WARC Format 1.1" (IIPC), 6.7 conversion; https://commoncrawl.org/get-started for the names and
`WARC-Identified-Content-Language`, which has codes of ISO 639-3.
"""

import gzip
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from gossamer.archive.committed import archive_files
from gossamer.archive.follower import FollowedRecord
from gossamer.archive.placement import ArchiveFile, digest_label
from gossamer.archive.reader import open_archive_file
from gossamer.archive.records import RECORD_END, safe_uri
from gossamer.archive.stamps import named_record_id, warc_date
from gossamer.datasets.export.parts import Writer
from gossamer.datasets.export.places import CountedFile
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import StorageError

COLUMNS = ("url", "time", "serial", "offset", "language", "text")
"""Of documents, that a record is made of."""
_LEVEL = 6
_CODES = (
    "aa aar ab abk ae ave af afr ak aka am amh an arg ar ara as asm av ava ay aym az aze ba bak be bel bg bul bh bih"
    " bi bis bm bam bn ben bo bod br bre bs bos ca cat ce che ch cha co cos cr cre cs ces cu chu cv chv cy cym"
    " da dan de deu dv div dz dzo ee ewe el ell en eng eo epo es spa et est eu eus fa fas ff ful fi fin fj fij"
    " fo fao fr fra fy fry ga gle gd gla gl glg gn grn gu guj gv glv ha hau he heb hi hin ho hmo hr hrv ht hat"
    " hu hun hy hye hz her ia ina id ind ie ile ig ibo ii iii ik ipk io ido is isl it ita iu iku ja jpn jv jav"
    " ka kat kg kon ki kik kj kua kk kaz kl kal km khm kn kan ko kor kr kau ks kas ku kur kv kom kw cor ky kir"
    " la lat lb ltz lg lug li lim ln lin lo lao lt lit lu lub lv lav mg mlg mh mah mi mri mk mkd ml mal mn mon"
    " mr mar ms msa mt mlt my mya na nau nb nob nd nde ne nep ng ndo nl nld nn nno no nor nr nbl nv nav ny nya"
    " oc oci oj oji om orm or ori os oss pa pan pi pli pl pol ps pus pt por qu que rm roh rn run ro ron ru rus"
    " rw kin sa san sc srd sd snd se sme sg sag si sin sk slk sl slv sm smo sn sna so som sq sqi sr srp ss ssw"
    " st sot su sun sv swe sw swa ta tam te tel tg tgk th tha ti tir tk tuk tl tgl tn tsn to ton tr tur ts tso"
    " tt tat tw twi ty tah ug uig uk ukr ur urd uz uzb ve ven vi vie vo vol wa wln wo wol xh xho yi yid yo yor"
    " za zha zh zho zu zul"
)
_THREE = dict(zip(_CODES.split()[::2], _CODES.split()[1::2], strict=True))
"""ISO 639-3 by ISO 639-1."""


class RecordIds:
    """Finds the ids of archived records; one archive file is open at a time."""

    def __init__(self, inspection: Inspection) -> None:
        self._parts = [
            (part.folder.archive, {file.serial: file for file in archive_files(part.environment)})
            for part in inspection.each.values()
        ]
        self._open: tuple[ArchiveFile, Any] | None = None

    def of(self, url: str, serial: int, offset: int) -> str:
        """`urn:uuid:...` of the record of `url` there; empty if its file was moved away, or it cannot be read."""
        for folder, files in self._parts:  # of a cluster's agents each counts its files itself
            file = files.get(serial)
            if file is None:
                continue
            try:
                if self._open is None or self._open[0] is not file:
                    self.close()
                    self._open = file, open_archive_file(folder, file.name)
                record = FollowedRecord(self._open[1], file, offset, "")
            except (OSError, StorageError):
                continue
            if record.url == url:
                return record.record_id
        return ""

    def close(self) -> None:
        """Close the file that is open."""
        if self._open is not None:
            self._open[1].close()
            self._open = None


class WetForm:
    """Texts as conversion records, each a gzip member of its own if packed."""

    def __init__(self, refers_to: Callable[[str, int, int], str], program: str, *, packed: bool) -> None:
        """Args:
        refers_to: the id of the record of a URL at a serial and offset, `urn:uuid:...`, or nothing.
        program: that writes them, with its version.
        packed: by gzip.
        """
        self.name = f"wet{' gzip' if packed else ''}"
        self.suffix = f".warc.wet{'.gz' if packed else ''}"
        self._refers_to = refers_to
        self._program = program
        self._packed = packed

    def open(self, out: CountedFile) -> Writer:
        """Begin a file; its `warcinfo` comes first."""
        return _Wet(out, self._refers_to, self._program, packed=self._packed)


class _Wet:
    def __init__(
        self, out: CountedFile, refers_to: Callable[[str, int, int], str], program: str, *, packed: bool
    ) -> None:
        self._out = out
        self._refers_to = refers_to
        self._program = program
        self._packed = packed
        self._warcinfo = ""

    def write(self, batch: Any) -> None:
        for row in batch.to_pylist():
            seconds = row["time"].timestamp() if row["time"] is not None else 0.0
            self._begin(seconds)
            self._record(row, seconds)

    def close(self) -> None:
        self._begin(0.0)

    def _begin(self, seconds: float) -> None:
        """The `warcinfo`, dated as the first text, so that the same texts give the same bytes."""
        if not self._warcinfo:
            block = (
                f"software: {self._program}\r\nformat: WARC File Format 1.1\r\n"
                "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
                "description: Plain text of documents\r\n"
            ).encode()
            self._warcinfo = named_record_id(f"wet {seconds} ".encode() + block)
            fields = ("WARC-Type: warcinfo", f"WARC-Date: {warc_date(seconds)}")
            self._put((*fields, f"WARC-Record-ID: <{self._warcinfo}>"), "application/warc-fields", block)

    def _record(self, row: dict[str, Any], seconds: float) -> None:
        url, block = row["url"], row["text"].encode()
        refers_to = self._refers_to(url, row["serial"], row["offset"])
        primary = (row["language"] or "").partition("-")[0].lower()
        language = _THREE.get(primary, primary if len(primary) == 3 and primary.isascii() else "")
        own = named_record_id(f"wet {url} {seconds} {row['serial']} {row['offset']}".encode())
        fields = [
            "WARC-Type: conversion",
            f"WARC-Target-URI: {safe_uri(url)}",
            f"WARC-Date: {warc_date(seconds)}",
            f"WARC-Record-ID: <{own}>",
            f"WARC-Warcinfo-ID: <{self._warcinfo}>",
        ]
        if refers_to:
            fields.append(f"WARC-Refers-To: <{refers_to}>")
        fields.append(f"WARC-Block-Digest: {digest_label(hashlib.sha256(block).digest())}")
        if language:
            fields.append(f"WARC-Identified-Content-Language: {language}")
        self._put(fields, "text/plain; charset=utf-8", block)

    def _put(self, fields: Sequence[str], media_type: str, block: bytes) -> None:
        head = ("WARC/1.1", *fields, f"Content-Type: {media_type}", f"Content-Length: {len(block)}", "", "")
        record = "\r\n".join(head).encode() + block + RECORD_END
        self._out.write(gzip.compress(record, _LEVEL, mtime=0) if self._packed else record)
