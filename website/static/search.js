// Sphinx's search, adapted. First pages with the words in their title, then headings
// that have them, then pages that have them somewhere, at last the library's names.
// Excerpts show sentences: no code, and a formula once, not also as TeX. From a folder
// (file://) no page may read another, so there are none. And no words are kept for the
// next page, where they would be marked.
"use strict";

if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
addEventListener("load", () => localStorage.removeItem("sphinx_highlight_terms"));

const IN_TITLE = 400;
const IN_HEADING = 300;
const CLOSENESS = 90; // of a title that has no other word
const ANSWER = 1; // of two equals the one in the FAQ
const LIBRARY = -1000;
const MEANT = { rope: "rotary", sinusoid: "sinusoidal", sinusoids: "sinusoidal", sin: "sine",
  cos: "cosine", learnable: "learned", trainable: "learned", learnt: "learned", sequence: "text",
  sequences: "texts", sum: "add", concat: "concatenating", fp16: "half", float16: "half", odd: "even",
  decoder: "causal", picture: "image", llama2: "llama", normalize: "divide", mismatch: "differ",
  huggingface: "program", inference: "decoding" };
// Names in programs, and what stands in a title for them.
const NAMED = { position_ids: "padding and caches", rotate_half: "rotary pairs", inv_freq: "half precision",
  "10k": "why 10000", "8x": "eight times", "32k": "context eight times", "128k": "context eight times" };
const NAMES = ["posit", "encod", "embed", "transform"]; // nearly every question is about it
const ASKING = ["between", "can", "difference", "do", "does", "how", "what"];

const stemmed = (word) => new Stemmer().stemWord(MEANT[word] ?? word);
const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];

const lean = (page) =>
  page.endsWith("/faq") ? ANSWER : page.endsWith("/api") ? LIBRARY : 0;

const titlesWith = (terms) => {
  const { alltitles, docnames, filenames, titles } = Search._index;
  return Object.entries(alltitles).flatMap(([title, places]) => {
    const words = wordsOf(title);
    const has = (start) => words.some((word) => word.startsWith(start));
    if (!terms.length || !terms.every(has)) return [];
    const begins = words.find((word) => !stopwords.includes(word)).startsWith(terms[0]);
    const closeness = (CLOSENESS * terms.length) / words.length;
    return places.map(([file, id]) => {
      const isPage = titles[file] === title;
      const heading = title.trim().replace(/^\((.*)\)$/, "Exercise: $1");
      const name = isPage ? title : `${titles[file]} > ${heading}`;
      const score = (!isPage ? IN_HEADING : begins ? IN_TITLE + CLOSENESS : IN_TITLE) + closeness + lean(docnames[file]);
      return [docnames[file], name, id ? `#${id}` : "", null, score, filenames[file]];
    });
  });
};

// Whole questions: the FAQ's by the share of the words that they hold, rare words first.
const questionsWith = (query) => {
  const { alltitles, docnames, filenames, titles } = Search._index;
  const terms = wordsOf(query).filter((word) => ![...stopwords, ...ASKING].includes(word));
  const questions = Object.entries(alltitles).flatMap(([title, places]) =>
    places
      .filter(([file]) => docnames[file].endsWith("/faq") && title.endsWith("?"))
      .map(([file, id]) => ({ title, file, id, words: wordsOf(title).map(stemmed) })),
  );
  const stems = [...new Set(terms.map(stemmed))];
  if (stems.length < 2) return [];
  const weights = stems.map((stem) => {
    const known = questions.filter(({ words }) => words.includes(stem)).length;
    return (known ? 1 / known : 0.3) * (NAMES.includes(stem) ? 0.2 : 1);
  });
  const total = weights.reduce((a, b) => a + b);
  return questions.flatMap(({ title, file, id, words }) => {
    const held = weights.filter((_, i) => words.includes(stems[i])).reduce((a, b) => a + b, 0);
    if (held < total / 2) return [];
    const score = IN_HEADING + (1.5 * CLOSENESS * held) / total;
    return [[docnames[file], `${titles[file]} > ${title}`, `#${id}`, null, score, filenames[file]]];
  });
};

// "BERT's" is BERT, and 10,000 one number.
const sphinxParse = Search._parseQuery;
Search._parseQuery = (typed) =>
  sphinxParse(typed.replace(/['’]s\b/g, "").replace(/(\d),(?=\d{3})/g, "$1"));

Scorer.score = ([page, , , ofLibrary, score]) =>
  score + (ofLibrary ? LIBRARY : lean(page));

// Sphinx shows the last one first.
const sphinxSearch = Search._performSearch;
Search._performSearch = (typed, terms, ...others) => {
  const query = typed.replace(/\w+/g, (name) => NAMED[name.toLowerCase()] ?? name);
  const stem = (word) => new Stemmer().stemWord(word);
  const stemMeant = new Map(Object.entries(MEANT).map((pair) => pair.map(stem)));
  const words = new Set([...terms].map((word) => stemMeant.get(word) ?? word));
  const queryWords = wordsOf(query)
    .filter((word) => !stopwords.includes(word))
    .map((word) => MEANT[word] ?? word);
  const best = new Map();
  for (const result of [
    ...sphinxSearch(query, words, ...others),
    ...titlesWith(queryWords),
    ...questionsWith(query),
  ]) {
    const place = result[0] + result[2];
    if (!(best.get(place)?.[4] > result[4])) best.set(place, result);
  }
  return [...best.values()].toSorted(
    ([, a, , , worse], [, b, , , better]) => worse - better || b.localeCompare(a),
  );
};

// For the dialog: the best pages, headings and texts, each a link, without excerpts.
const inGroups = (typed) => {
  const groups = { Pages: [], Headings: [], Text: [] };
  const found = typed.trim() ? Search._performSearch(...Search._parseQuery(typed)) : [];
  localStorage.removeItem("sphinx_highlight_terms");
  for (const [page, title, anchor, , score] of found.toReversed()) {
    const kind = score < IN_HEADING ? "Text" : title.includes(" > ") ? "Headings" : "Pages";
    const link = document.createElement("a");
    link.href = document.documentElement.dataset.content_root + page + DOCUMENTATION_OPTIONS.LINK_SUFFIX + anchor;
    link.innerHTML = title;
    if (groups[kind].length < 6) groups[kind].push(link);
  }
  return Object.entries(groups).flatMap(([name, links]) => {
    const heading = document.createElement("h2");
    heading.textContent = name;
    return links.length ? [heading, ...links] : [];
  });
};
document.querySelector("#search-dialog").addEventListener("ask", ({ target, detail }) =>
  target.lastElementChild.replaceChildren(...inGroups(detail)));

Search.htmlToText = (source, anchor) => {
  const page = new DOMParser().parseFromString(source, "text/html");
  const noSentence =
    "pre, dt, .cell_input, .cell_output, .word, h1, h2, h3, h4, nav, .headerlink, script, style, " +
    "svg, button, figure img, .katex-html, annotation";
  const id = anchor && decodeURIComponent(anchor.slice(1));
  const found = (id && page.getElementById(id)) || page.querySelector("article");
  found?.querySelectorAll(noSentence).forEach((element) => element.remove());
  return found ? found.textContent.replace(/\s+/g, " ") : "";
};

// Words round the first that begins with one that was asked: "rope" is not in "European",
// where Sphinx would mark it.
Search.makeSearchSummary = (source, terms, anchor) => {
  const text = Search.htmlToText(source, anchor);
  if (!text) return null;
  const starts = [...terms].map((stem) => stem.replace(/i$/, ""));
  const matches = (word) => starts.some((start) => word.toLowerCase().startsWith(start));
  const words = text.split(/([\p{L}\p{N}]+)/u);
  const from = Math.max(0, words.findIndex(matches) - 40), to = from + 80;
  const summary = document.createElement("p");
  summary.className = "context nohighlight";
  summary.append(from ? "… " : "", ...words.slice(from, to).map((word) => {
    if (!matches(word)) return word;
    const marked = document.createElement("span");
    marked.className = "highlighted";
    marked.textContent = word;
    return marked;
  }), to < words.length ? " …" : "");
  return summary;
};
