// Sphinx's search, adapted: from a folder (file://) no page may read another, so
// no excerpts there; an excerpt shows a formula once, not also as TeX; a heading
// that says what was asked comes before pages that use its words; and no words are
// kept for the next page, where they would be marked.
"use strict";

if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

Search.htmlToText = (source, anchor) => {
  const page = new DOMParser().parseFromString(source, "text/html");
  page
    .querySelectorAll(".headerlink, script, style, svg, nav, .katex-html, annotation")
    .forEach((element) => element.remove());
  const id = anchor && decodeURIComponent(anchor.slice(1));
  const found = (id && page.getElementById(id)) || page.querySelector("article");
  return found ? found.textContent : "";
};

const asked = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase();
Scorer.score = ([, title, , , score]) =>
  score + (asked && title.toLowerCase().includes(asked) ? 50 : 0);

addEventListener("load", () => localStorage.removeItem("sphinx_highlight_terms"));
