"""A site of two origins whose pages are made in every way that scripts and styles have, to be crawled and replayed."""

import base64
from collections.abc import Callable, Mapping

Answer = tuple[int, Mapping[str, str], str | bytes]

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""One pixel."""
_IMAGE = {"Content-Type": "image/png"}
_JS = {"Content-Type": "text/javascript"}
_CSS = {"Content-Type": "text/css"}
_JSON = {"Content-Type": "application/json", "Access-Control-Allow-Origin": "*"}
_OPEN = {"Access-Control-Allow-Origin": "*"}


def _page(title: str, body: str, head: str = "") -> str:
    return f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body><h1>{title}</h1>{body}</body></html>"


def pages(other: str) -> dict[str, str]:
    """HTML by path without its first slash; `other` is the address of the second origin, ending in `/`.

    What scripts ask for stands in them as whole strings, so that a crawl without a browser finds it.
    """
    say = "const say=t=>document.getElementById('out').append(t+' ');"
    out = "<p id=out></p>"
    made = {
        "static.html": _page(
            "static",
            f'<img src="/i/a.png"><img src="{other}i/b.png" alt="b"><img srcset="/i/c.png 1x, {other}i/d.png 2x">'
            f'<picture><source srcset="{other}i/e.png"><img src="i/f.png"></picture>'
            f"<div style=\"background:url('{other}i/g.png')\">styled</div><a href='{other}page.html'>other</a>",
            f'<link rel=stylesheet href="/s/main.css"><link rel=stylesheet href="{other}s/far.css">'
            f"<style>@import '{other}s/imported.css'; h1{{background:url({other}i/h.png)}}</style>",
        ),
        "frames.html": _page(
            "frames", f'<iframe src="inner.html"></iframe><iframe src="{other}page.html"></iframe>'
            f'<iframe srcdoc="&lt;p&gt;within&lt;/p&gt;&lt;img src=&quot;{other}i/k.png&quot;&gt;"></iframe>'
        ),
        "inner.html": _page("inner", "<p>inner text</p>"),
        "fetch.html": _page(
            "fetch",
            f"{out}<script>{say} fetch('/data/one.json').then(r=>r.json()).then(d=>{{say(d.text);"
            f"return fetch('{other}data/two.json')}}).then(r=>r.json()).then(d=>say(d.text))</script>",
        ),
        "xhr.html": _page(
            "xhr",
            f"{out}<script>{say} const x=new XMLHttpRequest();x.open('GET','{other}data/three.json');"
            "x.onload=()=>say(JSON.parse(x.responseText).text);x.send()</script>",
        ),
        "modules.html": _page(
            "modules",
            f"{out}<script type=module>{say} import {{a}} from '/m/a.js';import {{far}} from '{other}m/far.js';"
            f"say(a);say(far);say((await import('/m/late.js')).late);say((await import('{other}m/lazy.js')).lazy);"
            "</script>",
        ),
        "map.html": _page(
            "map",
            f"{out}<script type=module>{say} import {{mapped}} from 'thing';import {{a}} from 'near/a.js';say(mapped);say(a)</script>",
            f'<script type=importmap>{{"imports":{{"thing":"{other}m/mapped.js","near/":"/m/"}}}}</script>',
        ),
        "lazy.html": _page(
            "lazy",
            f'<img id=l data-src="{other}i/lazy.png"><img loading=lazy src="/i/below.png">'
            "<script>document.querySelectorAll('[data-src]').forEach(i=>{i.src=i.dataset.src;i.onload=()=>i.alt='loaded'})</script>",
        ),
        "push.html": _page(
            "push",
            f"{out}<script>{say} history.pushState({{n:1}},'','/push/deep?x=1');say(location.pathname+location.search);"
            "history.replaceState(null,'',location.href);say('state')</script>",
        ),
        "made.html": _page(
            "made",
            f"<div id=d></div><script>d.innerHTML='<img src=\"{other}i/m1.png\"><b>made</b>';"
            f"const s=document.createElement('script');s.src='{other}js/made.js';document.body.append(s);"
            f"const i=new Image();i.src='{other}i/m2.png';document.body.append(i);"
            f"const l=document.createElement('link');l.rel='stylesheet';l.href='{other}s/made.css';document.head.append(l);"
            f"document.write('<p>written</p>')</script>",
        ),
        "worker.html": _page(
            "worker",
            f"{out}<script>{say} const w=new Worker('/js/worker.js');w.onmessage=e=>say(e.data)</script>",
        ),
        "busted.html": _page(
            "busted", f"{out}<script>{say} fetch('/data/one.json?_='+Date.now()).then(r=>r.json()).then(d=>say(d.text))</script>"
        ),
        "storage.html": _page(
            "storage",
            f"{out}<script>{say} localStorage.k='v';document.cookie='c=1';say(localStorage.k+document.cookie)</script>",
        ),
        "hydrated.html": _page(
            "hydrated",
            '<div id=app>server</div><script id=d type="application/json">{"items":["x","y"]}</script>'
            "<script>app.innerHTML=JSON.parse(d.textContent).items.map(i=>`<li>${i}</li>`).join('')</script>",
        ),
        "shadow.html": _page(
            "shadow",
            f"<x-box></x-box><script>customElements.define('x-box',class extends HTMLElement{{connectedCallback(){{"
            f"this.attachShadow({{mode:'open'}}).innerHTML='<img src=\"{other}i/shadow.png\"><p>shade</p>'}}}})</script>",
        ),
        "base.html": _page("base", '<img src="i/based.png"><p>based</p>', f'<base href="{other}">'),
        "refused.html": _page(
            "refused",
            f"{out}<script>{say} try{{const w=new WebSocket('ws://127.0.0.1:9/');w.onerror=()=>say('no socket')}}catch(e){{say('no socket')}}</script>",
        ),
        "policy.html": _page(
            "policy", f"{out}<script>{say} say('ran')</script>",
            "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\">",
        ),
    }  # fmt: skip
    links = "".join(f'<li><a href="{name}">{name}</a>' for name in made)
    return {"": _page("home", f"<ul>{links}</ul>"), **made}


def first(other: str) -> Callable[[str], str | Answer | None]:
    """What is at each path of the first origin."""
    html = pages(other)

    def answer(path: str) -> str | Answer | None:
        path = path.partition("?")[0]
        files: dict[str, Answer] = {
            "s/main.css": (200, _CSS, f"@import url('more.css'); h1{{background:url({other}i/css.png)}}"),
            "s/more.css": (200, _CSS, "p{background:url(/i/more.png)}"),
            "data/one.json": (200, _JSON, '{"text":"one"}'),
            "m/a.js": (200, _JS, "import {b} from './b.js';export const a='a'+b;"),
            "m/b.js": (200, _JS, "export const b='b';"),
            "m/late.js": (200, _JS, "export const late='late';"),
            "js/worker.js": (
                200,
                _JS,
                f"fetch('{other}data/worker.json').then(r=>r.json()).then(d=>postMessage('worker '+d.text));",
            ),
        }
        if path.startswith("i/"):
            return 200, _IMAGE, PNG
        return files.get(path) or html.get(path)

    return answer


def second(path: str) -> str | Answer | None:
    """What is at each path of the second origin."""
    path = path.partition("?")[0]
    name = path.rpartition("/")[2].partition(".")[0]
    if path.startswith("i/"):
        return 200, _IMAGE, PNG
    if path.startswith("data/"):
        return 200, _JSON, f'{{"text":"{name}"}}'
    if path.startswith("m/"):
        return 200, {**_JS, **_OPEN}, f"export const {name}='{name}';"
    if path.startswith("s/"):
        return 200, _CSS, f"b{{background:url(/i/{name}.png)}}"
    if path == "js/made.js":
        return 200, _JS, "document.body.append('made by script');"
    return _page("other", "<p>of the other origin</p>") if path in ("", "page.html") else None
