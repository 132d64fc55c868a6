// Shortcuts: `?` shows them, `/` goes to the search field, `g` and a letter to a page. They can be switched
// off on the help page, and never work while something is being typed.

const PATIENCE = 1500;

export function listenForKeys() {
  let leading = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
    if (event.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
    if (leading && event.timeStamp - leading < PATIENCE) {
      leading = 0;
      const link = [...document.querySelectorAll("a[data-key]")].find((one) => one.dataset.key === event.key);
      if (link) {
        event.preventDefault();
        link.click();
      }
      return;
    }
    leading = 0;
    if (event.key === "g") leading = event.timeStamp;
    else if (event.key === "?") open(event);
    else if (event.key === "/") search(event);
  });
}

function open(event) {
  event.preventDefault();
  document.getElementById("keys")?.showModal();
}

function search(event) {
  const field = document.querySelector("[data-search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select?.();
}
