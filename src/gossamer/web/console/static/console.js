// What pages do beyond being pages: live figures, keys. Everything else works without this.
import { keepLive } from "./live.js";
import { listenForKeys } from "./keys.js";
import { suggestFor } from "./suggest.js";

const places = [...document.querySelectorAll("[data-live]")];
const head = document.getElementById("job-head");
if (head && !places.length) places.push(head); // else it comes with the rest
places.forEach(keepLive);
if (document.documentElement.dataset.keys) listenForKeys();
document.querySelectorAll("[data-suggest]").forEach(suggestFor);

if (!document.querySelector("[autofocus]")) document.querySelector("#problems, #preview")?.focus();
const here = document.querySelector(".side a[aria-current]");
if (here && here.parentElement.scrollWidth > here.parentElement.clientWidth) {
  here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.clientWidth / 2 + here.offsetWidth / 2;
}

// One menu open at a time; Escape and a click elsewhere close it.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
