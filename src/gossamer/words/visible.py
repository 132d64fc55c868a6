"""Makes text from anywhere fit to be shown: nothing in it is invisible, and nothing steers."""


def visible(text: str) -> str:
    """`text` with all escaped that is not plainly printable: control characters, line ends, bidi marks.

    Directional marks reorder what stands beside them (UAX 9), so they could forge a line or a figure.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char.isprintable() and not _steers(char) else char.encode("unicode_escape").decode()
        for char in text
    )


def _steers(char: str) -> bool:
    return char in "\u061c\u200e\u200f" or "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"
