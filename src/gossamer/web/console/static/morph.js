// Makes one tree of nodes like another with as few changes as it takes, so that focus, selection, open
// details and scrolled tables stay as they are.

export function morph(old, wanted) {
  const before = [...old.childNodes];
  const after = [...wanted.childNodes];
  for (let place = 0; place < Math.max(before.length, after.length); place++) {
    const here = before[place];
    const there = after[place];
    if (!there) here.remove();
    else if (!here) old.append(there);
    else if (here.isEqualNode(there)) continue;
    else if (here.nodeType !== there.nodeType || here.nodeName !== there.nodeName) here.replaceWith(there);
    else if (here.nodeType !== Node.ELEMENT_NODE) here.nodeValue = there.nodeValue;
    else {
      dress(here, there);
      if (here.namespaceURI === "http://www.w3.org/2000/svg" && here.nodeName === "svg") here.replaceWith(there);
      else if (here !== document.activeElement || !here.matches("input, textarea, select")) morph(here, there);
    }
  }
}

function dress(here, there) {
  for (const { name } of [...here.attributes]) {
    if (!there.hasAttribute(name) && !(name === "open" && here.nodeName === "DETAILS")) here.removeAttribute(name);
  }
  for (const { name, value } of [...there.attributes]) {
    if (here.getAttribute(name) !== value) here.setAttribute(name, value);
  }
}
