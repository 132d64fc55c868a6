// Titles that go on as is being typed, under the search field: a combobox with a list (ARIA). Without it the form works as
// it is. What is suggested was written by strangers: it becomes text, never markup.

const PAUSE = 150;

export function suggestFor(field) {
  const list = document.createElement("ul");
  list.id = `${field.id}-choices`;
  list.className = "choices";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", field.labels[0]?.textContent ?? "");
  field.after(list);
  for (const [name, value] of Object.entries({ role: "combobox", autocomplete: "off", "aria-autocomplete": "list", "aria-controls": list.id })) {
    field.setAttribute(name, value);
  }
  let timer = 0;
  let asked = null;
  let chosen = -1;
  close();

  function close() {
    clearTimeout(timer);
    asked?.abort();
    chosen = -1;
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function show(titles) {
    list.replaceChildren(...titles.map((title, place) => {
      const one = document.createElement("li");
      one.id = `${list.id}-${place}`;
      one.setAttribute("role", "option");
      one.dir = "auto";
      one.textContent = title;
      return one;
    }));
    chosen = -1;
    list.hidden = !titles.length;
    field.setAttribute("aria-expanded", String(titles.length > 0));
  }

  function choose(place) {
    chosen = place;
    [...list.children].forEach((one, at) => one.setAttribute("aria-selected", String(at === place)));
    if (place < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", list.children[place].id);
  }

  function take(one) {
    field.value = one.textContent;
    close();
    field.form.requestSubmit();
  }

  async function ask() {
    asked?.abort();
    const text = field.value.trim();
    if (!text) return close();
    asked = new AbortController();
    const address = new URL(field.dataset.suggest, location.href);
    address.searchParams.set("text", text.slice(0, 200));
    try {
      const answer = await fetch(address, { credentials: "same-origin", redirect: "error", signal: asked.signal });
      if (answer.ok && document.activeElement === field) show((await answer.json()).map((one) => one.title));
    } catch {
      // no suggestions, then
    }
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || list.hidden) return;
    const count = list.children.length;
    if (event.key === "ArrowDown") choose(chosen + 1 < count ? chosen + 1 : -1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? count - 1 : chosen - 1);
    else if (event.key === "Enter" && chosen >= 0) take(list.children[chosen]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const one = event.target.closest("li");
    if (one) take(one);
  });
}
