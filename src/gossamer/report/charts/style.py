"""The style sheet of the charts: colours for light and dark, fonts, what hovering shows."""

TONES = {
    "blue": 0,
    "teal": 1,
    "amber": 2,
    "red": 3,
    "purple": 4,
    "olive": 5,
    "pink": 6,
    "grey": 7,
}
"""Names of the tones; they differ in lightness too, for people who see red and green alike."""

_LIGHT = ("#2f6fde", "#0f8f86", "#e0a019", "#c23b34", "#7b52c7", "#6d8a1e", "#c46a9d", "#8793a3")
_DARK = ("#6aa0ff", "#35beb2", "#f2bd4e", "#f07a70", "#b494f5", "#aac85c", "#e594c4", "#8d99a9")

_LIGHT_INK = "--ink:#1c2430;--faint:#5b6776;--rule:#dfe4ea;--paper:#ffffff;--ground:#f4f6f9;--edge:#d5dbe3"
_DARK_INK = "--ink:#e6ebf2;--faint:#9aa7b7;--rule:#2c3542;--paper:#171d26;--ground:#0e131a;--edge:#2b3441"


def _colours(ink: str, tones: tuple[str, ...]) -> str:
    return ink + "".join(f";--t{number}:{colour}" for number, colour in enumerate(tones))


_LIGHT_ALL, _DARK_ALL = _colours(_LIGHT_INK, _LIGHT), _colours(_DARK_INK, _DARK)

_MARKS = """
.chart{display:block;width:100%;height:auto;overflow:visible;font:12px system-ui,-apple-system,"Segoe UI",
Roboto,"Noto Sans","Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif}
.chart text{fill:var(--ink);unicode-bidi:isolate}
.chart .mid{text-anchor:middle}
.chart .end{text-anchor:end}
.chart .tick,.chart .note{fill:var(--faint);font-size:11px;font-variant-numeric:tabular-nums}
.chart .amount{font-size:11px;font-variant-numeric:tabular-nums}
.chart .grid{stroke:var(--rule);stroke-width:1}
.chart .axis{stroke:var(--faint);stroke-width:1}
.chart .track{fill:var(--rule);opacity:.55}
.chart .line{fill:none;stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round}
.chart .mark-line{fill:none}
.chart .on{font-size:11px;paint-order:stroke;stroke:var(--paper);stroke-width:3px;
stroke-linejoin:round;pointer-events:none}
.chart .figure{font-size:22px;font-weight:620;font-variant-numeric:tabular-nums}
.chart .under{opacity:.14}
.chart .hit{fill:var(--ink);opacity:0}
.chart g:hover>.hit{opacity:.08}
.chart g:hover>.mark,.chart g:hover>.mark-line{opacity:.78}
.chart .mark{stroke:var(--paper);stroke-width:.5}
.chart-narrow{display:none}
@media screen and (max-width:640px){.chart-wide{display:none}.chart-narrow{display:block}}
@media print{.chart-wide{display:block}.chart-narrow{display:none}
.chart{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""

CHART_CSS = "".join(
    (
        f":root{{color-scheme:light dark;{_LIGHT_ALL}}}\n",
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{_DARK_ALL}}}}}\n",
        f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{_DARK_ALL}}}\n",
        ":root[data-theme=light]{color-scheme:light}}\n",
        *(f".t{number}{{fill:var(--t{number})}}.s{number}{{stroke:var(--t{number})}}" for number in range(8)),
        _MARKS,
    )
)
"""The style sheet; `<html data-theme="dark">` or `"light"` overrules what the reader's system prefers."""
