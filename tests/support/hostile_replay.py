"""What a hostile page may try from within an archive, by name. `{api}` and `{list}` are addresses that it wants to
reach, `{other}` a host outside, `{port}` of a server of UDP. Whoever succeeds says GOT in the title of the page."""

GOT = "document.title='GOT '+"
_FRAME = "const f=document.createElement('iframe');document.body.append(f);"

PAYLOADS = {
    "fetch_api": "fetch('{api}stop',{mode:'no-cors'}).catch(()=>0)",
    "xhr_api": "const x=new XMLHttpRequest();x.open('POST','{api}stop');x.send('x')",
    "image": "new Image().src='{api}i.png';document.body.insertAdjacentHTML('beforeend','<img src={api}j.png>')",
    "beacon": "navigator.sendBeacon('{api}b','x')",
    "form": "const f=document.createElement('form');f.action='{api}f';f.method='post';document.body.append(f);f.submit()",
    "form_native": "const f=document.createElement('form');f.action='{api}f2';document.body.append(f);"
    "HTMLFormElement.prototype.submit.call(f)",
    "frame": _FRAME + "f.src='{api}frame'",
    "frame_of_list": _FRAME + "f.src='{list}/';f.onload=()=>{try{" + GOT + "f.contentDocument.body.innerText}catch(e){}}",
    "read_list": "fetch('{list}/').then(r=>r.text()).then(t=>{if(/Archived pages/.test(t))" + GOT + "t})",
    "read_list_raw": _FRAME + "f.contentWindow.fetch('{list}/').then(r=>r.text()).then(t=>{if(/Archived pages/.test(t))" + GOT + "t})",
    "open": "const w=window.open('{list}/');if(w)" + GOT + "'window'",
    "open_fresh": _FRAME + "const w=f.contentWindow.open('{api}open');if(w)" + GOT + "'window'",
    "opener": "if(window.opener||window.parent!==window)" + GOT + "'opener'",
    "location": "location='{api}l'",
    "location_replace": "location.replace('{api}r')",
    "location_fresh": _FRAME + "f.contentWindow.eval(\"parent.location='{api}lf'\")",
    "navigation_api": "navigation.navigate('{api}n').committed.catch(()=>0)",
    "prevent_undone": "Event.prototype.preventDefault=NavigateEvent.prototype.preventDefault=()=>{};"
    "Object.defineProperty(NavigateEvent.prototype,'destination',{get:()=>({url:location.href})});location='{api}p'",
    "stop_listeners": "navigation.addEventListener('navigate',e=>e.stopImmediatePropagation(),true);location='{api}s'",
    "navigation_gone": "Object.defineProperty(window,'navigation',{value:null});location='{api}g'",
    "sandboxed_top": "document.body.insertAdjacentHTML('beforeend',\"<iframe sandbox='allow-scripts "
    "allow-top-navigation allow-popups' srcdoc=\\\"<script>top.location='{api}st'<\\/script>\\\"></iframe>\")",
    "blob_page": "location=URL.createObjectURL(new Blob(['<script>location=\"{api}bp\"<\\/script>'],{type:'text/html'}))",
    "data_frame": _FRAME + "f.src='data:text/html,<script>fetch(\"{api}df\");top.location=\"{api}df2\"<\\/script>'",
    "service_worker": "navigator.serviceWorker.register('/sw.js').then(()=>{" + GOT + "'worker'},()=>0)",
    "worker": "new Worker(URL.createObjectURL(new Blob([\"fetch('{api}w');importScripts('{api}ws')\"])))",
    "shared_worker": "new SharedWorker(URL.createObjectURL(new Blob([\"fetch('{api}sw')\"])))",
    "socket": "new WebSocket('ws://'+new URL('{api}').host+'/ws')",
    "event_source": "new EventSource('{api}es')",
    "import_": "import('{api}m.js').catch(()=>0)",
    "script": "const s=document.createElement('script');s.src='{api}s.js';document.body.append(s)",
    "style": "document.body.style.background='url({api}st.png)';const s=document.createElement('style');"
    "s.textContent='@import \"{api}s.css\";@font-face{font-family:x;src:url({api}f.woff)}p{font-family:x}';"
    "document.head.append(s);document.body.append(document.createElement('p'))",
    "ping": "const a=document.createElement('a');a.href='#x';a.ping='{api}ping';document.body.append(a);a.click()",
    "click": "const a=document.createElement('a');Object.setPrototypeOf(a,HTMLAnchorElement.prototype);"
    "a.innerHTML='x';a.attributes;a.setAttribute('hrEf','{api}click');document.body.append(a);a.click()",
    "javascript_link": "const a=document.createElement('a');a.href=\"javascript:location='{api}jl'\";"
    "document.body.append(a);a.click()",
    "meta": "const m=document.createElement('meta');m.httpEquiv='refresh';m.content='0;url={api}meta';document.head.append(m)",
    "written": "document.open();document.write('<script>fetch(\"{api}wr\");location=\"{api}wr2\"<\\/script>');document.close()",
    "prefetch": "for(const r of ['prefetch','prerender','preload','modulepreload','manifest','icon']){"
    "const l=document.createElement('link');l.rel=r;l.as='script';l.href='{api}pre-'+r;document.head.append(l)}",
    "speculation": "const s=document.createElement('script');s.type='speculationrules';"
    "s.textContent='{\"prefetch\":[{\"source\":\"list\",\"urls\":[\"{api}spec\"]}]}';document.head.append(s)",
    "peer": "for(const R of [window.RTCPeerConnection,window.webkitRTCPeerConnection])if(R){const c=new R({iceServers:"
    "[{urls:'stun:127.0.0.1:{port}'}]});c.createDataChannel('x');c.createOffer().then(o=>c.setLocalDescription(o))}",
    "peer_fresh": _FRAME + "const R=f.contentWindow.RTCPeerConnection;if(R){const c=new R({iceServers:"
    "[{urls:'stun:127.0.0.1:{port}'}]});c.createDataChannel('x');c.createOffer().then(o=>c.setLocalDescription(o))}",
    "plug_in": "document.body.insertAdjacentHTML('beforeend','<object data={api}o></object><embed src={api}e>')",
    "media": "document.body.insertAdjacentHTML('beforeend','<video src={api}v poster={api}p><track src={api}t></video>')",
    "cookies": "document.cookie='evil=1;domain=localhost';document.cookie='evil=1;domain=.localhost;path=/';"
    "if(/token|session/.test(document.cookie))" + GOT + "document.cookie",
    "other_origin": "const w=document.createElement('iframe');w.src='{other}';document.body.append(w);"
    "w.onload=()=>{try{" + GOT + "w.contentDocument.title}catch(e){}}",
    "transport": "try{new WebTransport('https://127.0.0.1:{port}/').ready.catch(()=>0)}catch(e){}",
    "base": "const b=document.createElement('base');b.href='{api}';document.head.prepend(b);"
    "document.body.insertAdjacentHTML('beforeend','<img src=based.png>');fetch('based.json').catch(()=>0)",
    "history": "try{history.pushState(0,'','{list}/');" + GOT + "location.href}catch(e){}",
}  # fmt: skip


def hostile_page(name: str, values: dict[str, str]) -> str:
    """A page that tries one of them once it is loaded, and is called what would run if it were not escaped."""
    code = PAYLOADS[name]
    for key, value in values.items():
        code = code.replace(f"{{{key}}}", value)
    code = code.replace("</script>", "<\\/script>")
    title = "<title>&lt;img src=x onerror=document.title='GOT'>javascript:alert(1)</title>"
    return f"<!doctype html><html><head>{title}</head><body><script>{{{code}}}</script></body></html>"
