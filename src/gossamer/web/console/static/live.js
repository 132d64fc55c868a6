// Keeps a part of the page up to date: asks the server for the same part of the same page again.
import { morph } from "./morph.js";

const SLOWEST = 60_000;

// The one place where text becomes markup: only what this server has rendered, from this page's own address.
const policy = globalThis.trustedTypes?.createPolicy("gossamer", { createHTML: (text) => text });

function parsed(text) {
  return new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html").body;
}

const lost = document.getElementById("lost");
const failing = new Set();

function tell(place, ok) {
  if (ok) failing.delete(place);
  else failing.add(place);
  if (lost) lost.hidden = failing.size === 0;
}

// The answer brings the head of the page, too, whatever part of it was asked for.
function show(place, fresh) {
  const head = document.getElementById("job-head");
  const anew = fresh.querySelector("#job-head");
  if (head && anew) {
    anew.remove();
    morph(head, anew);
  }
  if (place !== head) morph(place, fresh);
}

export function keepLive(place) {
  const every = Number(place.dataset.every) || 3000;
  let wait = every;
  let timer = 0;

  async function refresh() {
    timer = 0;
    if (document.hidden) return;
    const address = new URL(place.dataset.from || "", location.href);
    address.searchParams.set("part", place.dataset.part || "live");
    address.searchParams.delete("said");
    address.hash = "";
    try {
      const answer = await fetch(address, { credentials: "same-origin", redirect: "error" });
      if (answer.status === 404 || answer.status === 401) return tell(place, false);
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      show(place, parsed(await answer.text()));
      wait = every;
      tell(place, true);
    } catch {
      wait = Math.min(2 * wait, SLOWEST);
      tell(place, false);
    }
    again(wait);
  }

  function again(after) {
    if (!timer) timer = setTimeout(refresh, after);
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) again(0);
  });
  again(every);
}
