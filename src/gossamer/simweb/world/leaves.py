"""Files without links: pictures, documents, text, made to be what they say."""

import struct
import zlib

from gossamer.simweb.world.dice import Dice

MEDIA_TYPES = {
    "png": "image/png",
    "pdf": "application/pdf",
    "txt": "text/plain; charset=utf-8",
    "css": "text/css",
    "js": "text/javascript",
}


def leaf(kind: str, *key: int | str) -> bytes:
    """A file of the kind (a key of `MEDIA_TYPES`) that differs from every other."""
    dice = Dice(kind, *key)
    return _MAKERS[kind](dice)


def _png(dice: Dice) -> bytes:
    side = 1 + dice.below(32)
    rows = b"".join(b"\0" + (dice.roll() & 0xFFFFFF).to_bytes(3, "big") * side for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def _pdf(dice: Dice) -> bytes:
    content = b"BT /F1 18 Tf 72 720 Td (Leaf %d) Tj ET" % dice.roll()
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    )
    out, offsets = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, written)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return (
        out
        + b"xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (
            table,
            len(out),
        )
    )


def _txt(dice: Dice) -> bytes:
    return b"".join(b"line %d: hxxp://not-a-link.sim.test/%x\n" % (n, dice.roll()) for n in range(20))


def _css(dice: Dice) -> bytes:
    return b"body { color: #%06x }\n" % (dice.roll() & 0xFFFFFF)


def _js(dice: Dice) -> bytes:
    return b'var leaf = %d; // "<a href=/never-there.html>"\n' % dice.roll()


_MAKERS = {"png": _png, "pdf": _pdf, "txt": _txt, "css": _css, "js": _js}
