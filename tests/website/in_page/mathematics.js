// Formulas in error or not drawn, for the eye or for a screen reader, fonts that did not come, and TeX in the text.
() => {
  const faults = [...document.querySelectorAll(".katex-error")].map(
    (e) => `error: ${e.title || e.textContent}`,
  );
  for (const e of document.querySelectorAll(".math"))
    if (!e.querySelector(".katex")) faults.push(`not drawn: ${e.textContent}`);
  // A stand-in from the reader's own machine may be missing there.
  for (const font of document.fonts)
    if (font.status === "error" && !/PE Times/.test(font.family)) faults.push(`no font ${font.family}`);
  const parts = { msub: 2, msup: 2, mfrac: 2, munder: 2, mover: 2, msubsup: 3, munderover: 3 };
  for (const [name, count] of Object.entries(parts))
    for (const e of document.querySelectorAll(name))
      if (e.children.length !== count) faults.push(`MathML: ${e.outerHTML.slice(0, 80)}`);
  const tex = /\\\(|\\\[|\$\$|\\[a-zA-Z]{2,}|\$[^$\s][^$]*\$/;
  const main = document.querySelector("main") || document.body;
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!tex.test(text.data)) continue;
    if (text.parentElement.closest(".katex, pre, code, script, style, svg, math"))
      continue;
    faults.push(`raw TeX: ${text.data.trim().slice(0, 80)}`);
  }
  return faults;
};
