// Sentences that quote a number of a cell whose result is another now: the numbers that no
// longer stand in its section are marked.
const NUMBER = /\d[\d,]*(?:\.\d+)?/g;
const PROSE = "p, li, figcaption, td";

const values = (outputs) =>
  outputs
    .filter(([kind]) => kind === "text" || kind === "value")
    .flatMap(([, text]) => text.match(NUMBER) ?? [])
    .map((number) => Number(number.replaceAll(",", "")));

// Whether a number of a sentence is one of these, rounded as the sentence rounds.
const quotes = (quoted, found) => {
  const digits = (quoted.split(".")[1] ?? "").length;
  const value = Number(quoted.replaceAll(",", ""));
  return found.some((number) => [number, 100 * number].some((each) => Number(each.toFixed(digits)) === value));
};

const unmark = (section, owner) => {
  for (const mark of section.querySelectorAll(`mark.live-number[data-of="${owner}"]`)) {
    const parent = mark.parentNode;
    mark.replaceWith(...mark.childNodes);
    parent.normalize();
  }
};

export const fade = (holder, results) => {
  const section = holder?.closest("section");
  if (!section) return;
  unmark(section, holder.id);
  if (!results) return;
  const before = values(results.before);
  const now = values(results.now);
  const inside = (node) =>
    node.parentElement.closest(PROSE) &&
    node.parentElement.closest("section") === section &&
    !node.parentElement.closest(".cell, pre, code, .katex, mark, .live-start");
  const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) if (inside(walker.currentNode)) found.push(walker.currentNode);
  for (const node of found) {
    const text = node.data;
    const parts = [];
    let end = 0;
    for (const match of text.matchAll(NUMBER)) {
      const [quoted] = match;
      if (quoted.replace(/\D/g, "").length < 2 || !quotes(quoted, before) || quotes(quoted, now)) continue;
      const mark = document.createElement("mark");
      Object.assign(mark, { className: "live-number", textContent: quoted, title: "no longer, for these values" });
      mark.dataset.of = holder.id;
      parts.push(text.slice(end, match.index), mark);
      end = match.index + quoted.length;
    }
    if (parts.length) node.replaceWith(...parts, text.slice(end));
  }
};
