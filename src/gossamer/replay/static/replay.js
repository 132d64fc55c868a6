// Goes first in every replayed page and worker: leads what scripts ask for to the names of this server.
// What it misses fails, because the policy of each answer allows nothing but those names.
(() => {
  "use strict";
  const OPTIONS = __OPTIONS__;
  const SCHEMES = OPTIONS.schemes;
  const LONGEST = 63;
  const ENDING = `.localhost:${OPTIONS.port}`;
  const self_ = globalThis;
  const script = self_.document && document.currentScript;
  const ours = script ? new URL(script.src) : null;
  if (script) script.remove();
  const apply = Reflect.apply;
  const NativeURL = self_.URL;
  const prevent = self_.Event && Event.prototype.preventDefault;

  // Names: as gossamer.replay.names makes them.

  function hash(text) {
    let value = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(text))
      value = ((value ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
    return value.toString(16).padStart(16, "0");
  }

  function encoded(host) {
    if (!/^[a-z0-9.-]+$/.test(host)) return "";
    const label = host.replaceAll("-", "--").replaceAll(".", "-");
    const back = label.split("--").map((part) => part.replaceAll("-", ".")).join("-");
    return label[0] !== "-" && back === host ? label : "";
  }

  const here = self_.location.hostname.split(".")[0] || "";
  const time = (/-(t[0-9a-z]+)-[0-9a-z]+$/.exec(here) || [, ""])[1];

  function originOf(url) {
    const code = SCHEMES[url.protocol] + url.port + (time && `-${time}`);
    let label = `${encoded(url.hostname)}-${code}-${OPTIONS.token}`;
    if (!encoded(url.hostname) || label.length > LONGEST)
      label = `${hash(url.hostname)}-x${code}-${OPTIONS.token}`;
    return `http://${label}${ENDING}`;
  }

  /** The scheme under which this page was crawled: `//host/` is of the same. */
  const own = /-x?([a-su-z])\d*(?:-t[0-9a-z]+)?-[0-9a-z]+$/.exec(here);
  const scheme = own && own[1] === SCHEMES["https:"] ? "https:" : "http:";

  /** The address to ask for in the place of one: itself, unless it leads to another origin of the archive. */
  function led(address) {
    const text = String(address);
    const found = /^[\0- ]*(?:([a-z][a-z0-9+.-]*):)?[\\/]{2,}/i.exec(text);
    if (!found) return address;
    try {
      const url = new NativeURL(found[1] ? text : scheme + text.trimStart());
      if (!(url.protocol in SCHEMES) || url.host.endsWith(ENDING)) return address;
      return originOf(url) + url.pathname + url.search + url.hash;
    } catch {
      return address;
    }
  }

  const inStyles = (text) =>
    String(text).replace(
      /(url\(\s*["']?|@import\s+["'])((?:https?:)?\/\/[^"')\s]+)/gi,
      (_, before, address) => before + led(address),
    );
  const inSet = (text) =>
    String(text).replace(/(^|,\s*|\s)((?:https?:)?\/\/[^\s]+)/gi, (_, before, address) => {
      const commas = /,*$/.exec(address)[0];
      return before + led(address.slice(0, address.length - commas.length)) + commas;
    });

  /** How the value of an attribute is led, by its name. */
  const ATTRIBUTES = { srcset: inSet, imagesrcset: inSet, style: inStyles, integrity: () => "", ping: () => "" };
  for (const name of "href src action formaction poster background data cite longdesc xlink:href".split(" "))
    ATTRIBUTES[name] = led;

  const replace = (object, name, make) => {
    const native = object && object[name];
    if (typeof native !== "function") return;
    const made = make(native);
    Object.defineProperty(made, "name", { value: native.name });
    Object.defineProperty(made, "toString", { value: () => apply(Function.prototype.toString, native, []) });
    Object.defineProperty(object, name, { value: made, writable: true, configurable: true, enumerable: true });
  };

  const withFirst = (native, lead) =>
    function (first, ...rest) {
      return arguments.length ? apply(native, this, [lead(first), ...rest]) : apply(native, this, []);
    };

  const constructed = (object, name, lead) => {
    if (typeof object[name] !== "function") return;
    const construct = (target, given, made) =>
      Reflect.construct(target, given.length ? [lead(given[0]), ...given.slice(1)] : [], made);
    Object.defineProperty(object, name, {
      value: new Proxy(object[name], { construct }), writable: true, configurable: true,
    });
  };

  // Whatever asks for something, in pages and workers.

  function install(realm) {
    const NativeRequest = realm.Request;
    const request = (input) => {
      if (NativeRequest && input instanceof NativeRequest) {
        const address = led(input.url);
        return address === input.url ? input : new NativeRequest(address, input);
      }
      return led(input);
    };
    replace(realm, "fetch", (native) => withFirst(native, request));
    constructed(realm, "Request", request);
    replace(realm.XMLHttpRequest && realm.XMLHttpRequest.prototype, "open", (native) =>
      function (method, address, ...rest) {
        return apply(native, this, [method, led(address), ...rest]);
      });
    constructed(realm, "EventSource", led);
    constructed(realm, "Worker", led);
    constructed(realm, "SharedWorker", led);
    constructed(realm, "Audio", led);
    replace(realm, "importScripts", (native) => (...addresses) => native.apply(realm, addresses.map(led)));
    replace(realm.Navigator && realm.Navigator.prototype, "sendBeacon", (native) => withFirst(native, led));
    if (realm.FontFace)
      realm.FontFace = new Proxy(realm.FontFace, {
        construct: (target, [family, source, ...rest]) =>
          new target(family, typeof source === "string" ? inStyles(source) : source, ...rest),
      });
    for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) delete realm[name]; // no policy holds it
    if (realm.document) installDocument(realm);
  }

  // What only documents have.

  const installed = new WeakSet();

  function installDocument(realm) {
    const { document } = realm;
    for (const [type, ...names] of [
      ["HTMLImageElement", "src", "srcset"], ["HTMLScriptElement", "src", "integrity"],
      ["HTMLLinkElement", "href", "imageSrcset", "integrity"], ["HTMLIFrameElement", "src"],
      ["HTMLFrameElement", "src"], ["HTMLAnchorElement", "href", "ping"], ["HTMLAreaElement", "href", "ping"],
      ["HTMLSourceElement", "src", "srcset"], ["HTMLMediaElement", "src"], ["HTMLVideoElement", "poster"],
      ["HTMLTrackElement", "src"], ["HTMLEmbedElement", "src"], ["HTMLObjectElement", "data"],
      ["HTMLFormElement", "action"], ["HTMLInputElement", "src", "formAction"],
      ["HTMLButtonElement", "formAction"], ["HTMLBaseElement", "href"],
    ])
      for (const name of names) settable(realm[type], name, ATTRIBUTES[name.toLowerCase()]);
    settable(realm.HTMLScriptElement, "type", (type) => withoutSpeculation("type", type));
    const element = realm.Element.prototype;
    const attribute = (name, value) => {
      const lead = ATTRIBUTES[String(name).toLowerCase()];
      return lead ? lead(value) : withoutSpeculation(name, value);
    };
    replace(element, "setAttribute", (native) =>
      function (name, value) {
        return apply(native, this, [name, attribute(name, value)]);
      });
    replace(element, "setAttributeNS", (native) =>
      function (space, name, value) {
        return apply(native, this, [space, name, attribute(name, value)]);
      });
    replace(element, "attachShadow", (native) =>
      function (init) {
        const root = apply(native, this, [init]);
        watch(realm, root);
        return root;
      });
    for (const name of ["insertRule", "replace", "replaceSync"])
      replace(realm.CSSStyleSheet && realm.CSSStyleSheet.prototype, name, (native) => withFirst(native, inStyles));
    for (const name of ["pushState", "replaceState"])
      replace(realm.History.prototype, name, (native) =>
        function (state, title, address) {
          return apply(native, this, address == null ? [state, title] : [state, title, led(address)]);
        });
    replace(realm, "open", () => () => null); // the policy forbids windows, as a blocker does
    for (const name of ["contentWindow", "contentDocument"]) frames(realm.HTMLIFrameElement, name);
    if (realm.navigation) hold(realm);
    watch(realm, document);
    installed.add(document);
  }

  const withoutSpeculation = (name, value) =>
    String(name).toLowerCase() === "type" && String(value).trim().toLowerCase() === "speculationrules"
      ? "archived/speculationrules"
      : value;

  function settable(type, name, lead) {
    const found = type && Object.getOwnPropertyDescriptor(type.prototype, name);
    if (!found || !found.set) return;
    Object.defineProperty(type.prototype, name, {
      ...found,
      set(value) {
        apply(found.set, this, [lead(value)]);
      },
    });
  }

  /** Frames that have no document of the archive have our script's work done from here. */
  function frames(type, name) {
    const found = type && Object.getOwnPropertyDescriptor(type.prototype, name);
    if (!found) return;
    Object.defineProperty(type.prototype, name, {
      ...found,
      get() {
        const inner = apply(found.get, this, []);
        reach(name === "contentWindow" ? inner : inner && inner.defaultView);
        return inner;
      },
    });
  }

  function reach(realm) {
    try {
      if (realm && realm.document && !installed.has(realm.document) && realm.location.protocol === "about:")
        install(realm);
    } catch {} // of another origin
  }

  /** Leads what came into a tree in other ways: markup, styles. Its first try was stopped by the policy. */
  function watch(realm, root) {
    const names = Object.keys(ATTRIBUTES);
    const mend = (element, name) => {
      const value = element.getAttribute(name);
      if (value === null) return;
      const better = ATTRIBUTES[name](value);
      if (better !== value) element.setAttribute(name, better);
    };
    const mendAll = (node) => {
      if (node.nodeType !== 1) return;
      for (const element of [node, ...node.querySelectorAll("*")]) {
        for (const name of names) if (element.hasAttribute(name)) mend(element, name);
        if (element.localName === "style") mendStyle(element);
        if (element.localName === "iframe") reach(element.contentWindow);
        if (element.shadowRoot) watch(realm, element.shadowRoot);
      }
    };
    const mendStyle = (element) => {
      const better = inStyles(element.textContent);
      if (better !== element.textContent) element.textContent = better;
    };
    new realm.MutationObserver((changes) => {
      for (const change of changes) {
        if (change.type === "attributes") mend(change.target, change.attributeName);
        for (const node of change.addedNodes || []) mendAll(node);
        const around = change.target.localName === "style" ? change.target : null;
        if (around) mendStyle(around);
      }
    }).observe(root, { subtree: true, childList: true, attributes: true, attributeFilter: names.filter((name) => name !== "integrity") });
    if (root.children) for (const child of root.children) mendAll(child);
  }

  // Where a page is led: only to names of this server, by people also to the list.

  // Read by what the platform brought, for a page may put something of its own in the place of it.
  const getter = (type, name) => type && Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const read = {
    destination: getter(self_.NavigateEvent, "destination"),
    initiated: getter(self_.NavigateEvent, "userInitiated"),
    url: getter(self_.NavigationDestination, "url"),
    protocol: getter(NativeURL, "protocol"),
    host: getter(NativeURL, "host"),
    origin: getter(NativeURL, "origin"),
  };

  function endsSo(text, ending) {
    const before = text.length - ending.length;
    for (let at = 0; at < ending.length; at += 1) if (text[before + at] !== ending[at]) return false;
    return before > 0;
  }

  function hold(realm) {
    realm.navigation.addEventListener("navigate", (event) => {
      const address = apply(read.url, apply(read.destination, event, []), []);
      const url = new NativeURL(address);
      const protocol = apply(read.protocol, url, []);
      if (protocol === "http:" && endsSo(apply(read.host, url, []), ENDING)) return;
      // A document that is made here would be without us: in a frame the page around it holds it, but not above.
      const made = protocol === "about:" || protocol === "blob:" || protocol === "data:";
      if (made && realm.top !== realm) return;
      const known = apply(read.origin, url, []) === OPTIONS.home || !(protocol in SCHEMES);
      if (!made && known && apply(read.initiated, event, [])) return;
      apply(prevent, event, []);
      if (protocol in SCHEMES && !event.formData) realm.location.href = led(address);
    });
    realm.addEventListener("click", (event) => {
      const found = event.composedPath().find((node) => node.localName === "a" || node.localName === "area");
      const target = found && found.getAttribute("target");
      if (event.defaultPrevented || event.button || !target || !found.href || found.hasAttribute("download")) return;
      if (/^_(self|top|parent)$/i.test(target) || realm.document.getElementsByName(target).length) return;
      apply(prevent, event, []);
      realm.location.href = found.href; // in this window, since others are forbidden
    });
  }

  // Names of modules: whole origins are mapped, so that imports of addresses work.

  function mapModules() {
    const imports = {};
    for (const origin of OPTIONS.origins)
      for (const scheme of ["https:", "http:"]) {
        const url = new NativeURL(origin.replace(/^https?:/, scheme));
        if (url.protocol === scheme) imports[`${url.origin}/`] = `${originOf(url)}/`;
      }
    const map = document.createElement("script");
    map.type = "importmap";
    map.textContent = JSON.stringify({ imports });
    (document.head || document.documentElement).append(map);
    map.remove();
  }

  // The line at the foot of a page.

  function banner() {
    const host = document.createElement("gossamer-banner");
    const root = shadow.call(host, { mode: "closed" });
    const at = ours.searchParams.get("at") || "";
    const count = Number(ours.searchParams.get("u")) || 1;
    const original = originalOf(self_.location);
    root.innerHTML =
      "<style>:host{all:initial!important;position:fixed!important;inset:auto .75rem .75rem auto!important;" +
      "z-index:2147483647!important;display:block!important}div{font:13px/1.4 system-ui,sans-serif;color:#fff;" +
      "background:#1f2a37e6;border-radius:.4rem;padding:.35rem .6rem;display:flex;gap:.6rem;align-items:center}" +
      "a{color:#9ccbff}button{font:inherit;color:inherit;background:none;border:0;padding:0 .2rem;cursor:pointer}" +
      "@media print{div{display:none}}</style><div role=note><span></span><a></a><button aria-label=Close>×</button></div>";
    root.querySelector("span").textContent = `Archived ${at.replace("T", " ").replace("Z", " UTC")}`;
    const link = root.querySelector("a");
    link.textContent = count > 1 ? `${count} captures` : "All pages";
    link.href = count > 1 ? `${OPTIONS.home}/captures?url=${encodeURIComponent(original)}` : `${OPTIONS.home}/`;
    root.querySelector("button").addEventListener("click", () => host.remove());
    document.documentElement.append(host);
  }

  function originalOf(place) {
    const found = /^(.*?)-(x?)([a-su-z])(\d*)(?:-t[0-9a-z]+)?-[0-9a-z]+$/.exec(here);
    const protocol = found && Object.keys(SCHEMES).find((each) => SCHEMES[each] === found[3]);
    if (!protocol || found[2]) return place.href;
    const host = found[1].split("--").map((part) => part.replaceAll("-", ".")).join("-");
    const port = found[4] ? `:${found[4]}` : "";
    return `${protocol}//${host}${port}${place.pathname}${place.search}`;
  }

  const shadow = self_.Element && Element.prototype.attachShadow;
  if (ours && !ours.searchParams.has("m") && OPTIONS.origins.length) mapModules();
  install(self_);
  if (ours && OPTIONS.banner && self_.top === self_) addEventListener("DOMContentLoaded", banner, { once: true });
})();
