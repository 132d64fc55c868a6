"""The report's style sheet, beside that of its charts."""

from gossamer.report.charts import CHART_CSS

_CSS = """
.report{box-sizing:border-box;max-width:1180px;margin:0 auto;padding:24px 20px 48px;color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC","PingFang SC",
"Microsoft YaHei",sans-serif;overflow-wrap:anywhere}
.report h1{font-size:1.75rem;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
.report h2{font-size:1.3rem;margin:44px 0 6px;letter-spacing:-.01em}
.report h3{font-size:.95rem;margin:0 0 12px;font-weight:600}
.report p{margin:0 0 10px}
.report section{scroll-margin-top:12px}
.report .sub,.report .lead,.report .note,.report footer{color:var(--faint)}
.report .sub{margin:0 0 2px}
.report .lead{max-width:75ch;margin-bottom:14px}
.report .note{font-size:.84rem;margin:12px 0 0}
.report .empty{color:var(--faint);margin:0}
.report .badge{display:inline-block;border-radius:999px;padding:1px 10px;margin-left:8px;font-size:.8rem;
border:1px solid var(--edge);background:var(--paper);vertical-align:2px}
.report nav{display:flex;flex-wrap:wrap;gap:6px;margin:18px 0 4px}
.report nav a{color:var(--ink);text-decoration:none;border:1px solid var(--edge);background:var(--paper);
border-radius:999px;padding:3px 12px;font-size:.86rem}
.report nav a:hover,.report nav a:focus-visible{border-color:var(--t0)}
.report .tiles{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:12px;margin:22px 0 0}
.report .tile{background:var(--paper);border:1px solid var(--edge);border-radius:10px;padding:12px 14px}
.report .tile .what{color:var(--faint);font-size:.82rem}
.report .tile .much{font-size:1.55rem;font-weight:650;line-height:1.25;font-variant-numeric:tabular-nums}
.report .tile .more{color:var(--faint);font-size:.8rem}
.report .cards{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:14px;margin:0 0 14px}
.report .card{background:var(--paper);border:1px solid var(--edge);border-radius:10px;
padding:16px 18px;min-width:0}
.report .whole{grid-column:1/-1}
.report .verdict{border-left:4px solid var(--t1);padding:10px 14px;background:var(--paper);
border-radius:0 8px 8px 0;margin:0 0 14px;max-width:none}
.report .verdict.bad{border-left-color:var(--t3)}
.report .scroll{overflow-x:auto;margin:0 -4px}
.report table{border-collapse:collapse;width:100%;font-size:.85rem}
.report th,.report td{padding:5px 8px;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
.report th{color:var(--faint);font-weight:500;white-space:nowrap}
.report tbody tr:last-child td{border-bottom:0}
.report .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.report td{min-width:4em;overflow-wrap:break-word}
.report td:first-child,.report .url{overflow-wrap:anywhere}
.report td.n{min-width:0}
.report .url{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.report .facts+.cards{margin-top:14px}
.report .facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:10px 18px;
margin:12px 0 0}
.report dt{color:var(--faint);font-size:.82rem}
.report dd{margin:0}
.report footer{margin-top:48px;font-size:.85rem;border-top:1px solid var(--edge);padding-top:14px}
@media screen and (max-width:860px){.report .cards{grid-template-columns:minmax(0,1fr)}}
@media screen and (max-width:640px){.report{padding:16px 12px 32px}.report h1{font-size:1.4rem}
.report .card{padding:14px 12px}.report .tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}
.report .tile .much{font-size:1.25rem}}
@media screen and (max-width:640px){.report thead{position:absolute;width:1px;height:1px;overflow:hidden;
clip-path:inset(50%)}.report tbody{display:block}.report tr{display:flex;flex-wrap:wrap;gap:2px 14px;
padding:7px 0;border-bottom:1px solid var(--rule)}.report tbody tr:last-child{border-bottom:0}
.report td{border:0;padding:0 4px;min-width:0}.report td:first-child{flex:1 0 100%}
.report td[data-head]:not(:empty)::before{content:attr(data-head);color:var(--faint);margin-right:.4em}}
@media print{.report{max-width:none;padding:0;font-size:11px}.report nav{display:none}
.report .card,.report .tile{break-inside:avoid;border-color:#ccc}.report h2,.report h3{break-after:avoid}
.report .scroll{overflow:visible}.report .lead{margin-bottom:6px}.report h2{margin-top:24px}
.report table,.report .note,.report .facts,.report footer{font-size:9.5px}}
"""

REPORT_CSS = CHART_CSS + _CSS
"""Charts and report; everything of the report is below the class `report`."""

PAGE_CSS = REPORT_CSS + "html{background:var(--ground)}body{margin:0}@media print{html{background:none}}\n"
"""For the report as a page of its own."""
