// Formulas in error or not drawn, fonts that did not come, and TeX in the text.
() => {
  const faults = [...document.querySelectorAll(".katex-error")].map(
    (e) => `error: ${e.title || e.textContent}`,
  );
  for (const e of document.querySelectorAll(".math"))
    if (!e.querySelector(".katex")) faults.push(`not drawn: ${e.textContent}`);
  for (const font of document.fonts)
    if (font.status === "error") faults.push(`no font ${font.family}`);
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
