"""The report's words in English and Chinese, and numbers as people write them."""

from collections.abc import Callable
from typing import Literal, get_args

from gossamer.report.catalogue import PHRASES, TERMS, TONGUES
from gossamer.report.charts.shares import percent

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_SHORT = {
    "en": ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")),
    "zh": ((1e12, "万亿"), (1e8, "亿"), (1e4, "万")),
}
_STATUS = "status "
_SPANS = {"en": (" d", " h", " min", " s", " ms"), "zh": (" 天", " 小时", " 分", " 秒", " 毫秒")}


class Words:
    """Says things in one language.

    Args:
        language: which.
        reasons: says in it what the crawl has written down in English.
    """

    def __init__(self, language: Language, reasons: Callable[[str], str] = str) -> None:
        self.language = language
        self.reason = reasons
        self._column = LANGUAGES.index(language)

    def say(self, phrase: str, **fields: object) -> str:
        """A phrase of the catalogue; a number in `fields` is written in full, and decides the plural."""
        text = PHRASES[phrase][self._column]
        if not fields:
            return text
        for name, value in fields.items():
            text = _plural(text, name, value)
        shown = {
            name: self.number(value) if isinstance(value, int) else value for name, value in fields.items()
        }
        return text.format(**shown)

    def term(self, term: str) -> str:
        """A word of the crawler, e.g. the name of a fault; one not in the catalogue stays as it is."""
        known = TERMS.get(term)
        if known is None and term.startswith(_STATUS):
            return self.say("status code", code=term.removeprefix(_STATUS))
        return known[self._column] if known else term

    def tongue(self, tag: str) -> str:
        """The name of a language with its tag."""
        known = TONGUES.get(tag)
        return f"{known[self._column]} ({tag})" if known else tag

    def number(self, value: float) -> str:
        """In full: `12,345`; below 100 with as many digits as say something."""
        if value == int(value) or abs(value) >= 100:
            return f"{value:,.0f}"
        return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"

    def short(self, value: float) -> str:
        """A number for axes: `12k`, `1.2万`."""
        for unit, name in _SHORT[self.language]:
            if abs(value) >= unit:
                return f"{value / unit:.3g}{name}"
        return f"{value:.3g}" if value < 1 else f"{value:.4g}"

    def size(self, value: float) -> str:
        """An amount of bytes: `3.4 MiB`."""
        power = 0
        while abs(value) >= 1023.95 and power < len(_SIZES) - 1:
            value /= 1024
            power += 1
        unit = _SIZES[power]
        digits = 0 if unit == "B" or value == int(value) or value >= 100 else 1
        return f"{value:,.{digits}f} {unit}"

    def speed(self, value: float) -> str:
        """An amount of bytes in a second."""
        return self.say("per second", amount=self.size(value))

    def rate(self, value: float) -> str:
        """A number in a second."""
        return self.say("per second", amount=self.number(value))

    def duration(self, seconds: float) -> str:
        """A time in one or two units: `2 h 05 min`, `340 ms`."""
        day, hour, minute, second, milli = _SPANS[self.language]
        sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
        if seconds < 0.9995:
            return f"{sign}{seconds * 1000:.3g}{milli}" if seconds else f"0{second}"
        if seconds < 59.5:
            return f"{sign}{seconds:.3g}{second}"
        minutes, rest = divmod(round(seconds), 60)
        if minutes < 60:
            return f"{sign}{minutes}{minute} {rest:02d}{second}"
        hours, minutes = divmod(minutes, 60)
        if hours < 48:
            return f"{sign}{hours}{hour} {minutes:02d}{minute}"
        return f"{sign}{hours // 24:,}{day} {hours % 24}{hour}"

    def share(self, part: float, whole: float) -> str:
        """`part` of `whole` as a percentage; nothing of nothing is 0%."""
        share = part / whole if whole else 0.0
        return percent(share) if share < 0.1 or share >= 0.999 else f"{100 * share:.0f}%"


def _plural(text: str, name: str, value: object) -> str:
    """Settle `{name|page|pages}` by the number of that name."""
    mark = f"{{{name}|"
    while (begin := text.find(mark)) >= 0:
        end = text.index("}", begin)
        one, many = text[begin + len(mark) : end].split("|")
        text = text[:begin] + (one if value == 1 else many) + text[end + 1 :]
    return text
