// The frame: the search, the list of pages; and what scrolls in its box can be reached with
// the Tab key. Without it a page can still be read, and the list of pages opens.
"use strict";

const root = document.documentElement;
const find = (what) => document.querySelector(what);

// Names that this browser alone keeps under a key, for the scripts that come after this.
const kept = (key) => {
  try {
    return new Set(JSON.parse(localStorage.getItem(key)));
  } catch {
    return new Set(); // of a browser that keeps nothing, or of what another wrote
  }
};
const keep = (key, names) => {
  try {
    localStorage.setItem(key, JSON.stringify([...names]));
  } catch {
    // Then nothing is kept.
  }
};

// The search comes when it is opened: its program, and all sections of all pages.
const fetched = (file) => new Promise((done) => {
  const script = document.createElement("script");
  script.async = false;
  script.src = `${root.dataset.content_root}_static/${file}.js`;
  script.addEventListener("load", done);
  document.head.append(script);
});
let loading;
const search = find("#search-dialog");
const field = search.querySelector("input");
const answer = async () => {
  await (loading ??= Promise.all(["minisearch/minisearch", "synonyms", "find", "sections", "search"].map(fetched)));
  search.dispatchEvent(new CustomEvent("ask")); // search.js answers
};
const ask = (event) => {
  event?.preventDefault();
  if (search.open) return;
  search.showModal();
  answer();
};
const searchButton = find(".search-button");
searchButton.hidden = false;
searchButton.addEventListener("click", ask);
field.addEventListener("input", answer);
const leave = () => {
  search.close();
  history.replaceState({ ...history.state, question: undefined }, "");
};
search.addEventListener("click", ({ target }) => (target === search || target.closest(".close")) && leave());
search.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.preventDefault(); // a search field takes the first one to empty itself
  leave();
});
// Back from an answer to the question.
const asked = () => {
  if (!history.state?.question) return;
  field.value = history.state.question;
  ask();
};
addEventListener("popstate", asked);
asked();

const menu = find(".menu");
addEventListener("keydown", (event) => {
  const writes = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "k" && (event.ctrlKey || event.metaKey)) ask(event);
  if (event.key === "/" && !writes) ask(event);
  if (event.key !== "Escape") return;
  if (!menu.open) return;
  menu.open = false;
  menu.firstElementChild.focus();
});
addEventListener("click", (event) => menu.contains(event.target) || (menu.open = false));
menu.addEventListener("toggle", () => {
  const here = menu.querySelector("[aria-current]");
  if (menu.open && here) menu.lastElementChild.scrollTop = here.offsetTop - 100;
});

// The bar goes away when one reads on, and is back after a little way up.
const bar = find(".bar");
let last = scrollY;
let up = 0;
addEventListener("scroll", () => {
  const step = scrollY - last;
  last = scrollY;
  up = step < 0 ? up - step : 0;
  if (step > 0 && scrollY > 100) bar.classList.add("away");
  else if (up > 24 || scrollY < 100) bar.classList.remove("away");
}, { passive: true });

// Looked at again when a box changes: a fold opens, the window turns.
const boxes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
addEventListener("load", () => {
  const scrolling = "div.math, pre, .scrolls, .text_html:not(:has(.pe-explorer))";
  for (const box of document.querySelectorAll(scrolling)) boxes.observe(box);
});
