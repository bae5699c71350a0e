// The frame: light or dark, the search, the list of pages, what has been read; and what
// scrolls in its box can be reached with the Tab key. Without it a page can still be read,
// and the list of pages opens.
"use strict";

const root = document.documentElement;
const find = (what) => document.querySelector(what);

find(".mode-button").addEventListener("click", () => {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const mode = root.dataset.theme === "dark" ? "light" : "dark";
  root.dataset.theme = mode;
  try {
    if (mode === system) localStorage.removeItem("mode");
    else localStorage.setItem("mode", mode);
  } catch {
    // Then it holds for this page.
  }
});

// The search comes with the first question: its program, and the index of all sections.
const search = find("#search-dialog");
const ask = (event) => {
  event?.preventDefault();
  if (!search.open) search.showModal();
};
const searchButton = find(".search-button");
searchButton.hidden = false;
searchButton.addEventListener("click", ask);
const field = search.querySelector("input");
const fetched = (file) => new Promise((done) => {
  const script = document.createElement("script");
  script.async = false;
  script.src = `${root.dataset.content_root}_static/${file}.js`;
  script.addEventListener("load", done);
  document.head.append(script);
});
let loading;
const answer = async () => {
  await (loading ??= Promise.all(["minisearch/minisearch", "find", "search-index", "search"].map(fetched)));
  search.dispatchEvent(new CustomEvent("ask")); // search.js answers
};
field.addEventListener("input", answer);
search.addEventListener("click", (event) => event.target === search && search.close());

const menu = find(".menu");
addEventListener("keydown", (event) => {
  const writes = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "k" && (event.ctrlKey || event.metaKey)) ask(event);
  if (event.key === "/" && !writes) ask(event);
  if (event.key !== "Escape") return;
  for (const open of document.querySelectorAll(".menu[open], .path-progress > [open]")) {
    open.open = false;
    open.firstElementChild.focus();
  }
});
addEventListener("click", (event) => menu.contains(event.target) || (menu.open = false));

// A page opens where its address leads; later it glides there.
addEventListener("click", () => (root.style.scrollBehavior = "smooth"), { once: true });

const now = find(".rail .now");
if (now) find(".rail").scrollTop = now.offsetTop - 150;

// A page is done when its end was on the screen; this browser alone keeps that.
const { name } = find("main").dataset;
const ends = find(".onward");
const read = () => {
  try {
    return new Set(JSON.parse(localStorage.getItem("read")));
  } catch {
    return new Set(); // of a browser that keeps nothing, or of what another wrote
  }
};
const showRead = () => {
  const done = read();
  for (const place of document.querySelectorAll("[data-page]")) place.classList.toggle("done", done.has(place.dataset.page));
};
showRead();
if (name && ends) {
  new IntersectionObserver(([{ isIntersecting }], observer) => {
    if (!isIntersecting) return;
    observer.disconnect();
    try {
      localStorage.setItem("read", JSON.stringify([...read().add(name)]));
    } catch {
      // Then nothing is kept.
    }
    showRead();
  }).observe(ends);
}

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
