// Sphinx's search, adapted: from a folder (file://) no page may read another, so
// no excerpts there; and an excerpt shows a formula once, not also as TeX.
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
