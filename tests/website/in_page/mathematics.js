// Fonts that did not come, MathML without its parts, and TeX in the text: never drawn.
() => {
  const faults = [];
  // A stand-in from the reader's own machine may be missing there.
  for (const font of document.fonts)
    if (font.status === "error" && !/PE Times/.test(font.family)) faults.push(`no font ${font.family}`);
  const parts = { msub: 2, msup: 2, mfrac: 2, munder: 2, mover: 2, msubsup: 3, munderover: 3 };
  for (const [name, count] of Object.entries(parts))
    for (const e of document.querySelectorAll(name))
      if (e.children.length !== count) faults.push(`MathML: ${e.outerHTML.slice(0, 80)}`);
  const tex = /\\\(|\\\[|\$\$|\\[a-zA-Z]{2,}|\$[^$\s][^$]*\$/;
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const apart = ".katex, pre, code, script, style, svg, math";
    if (tex.test(text.data) && !text.parentElement.closest(apart))
      faults.push(`raw TeX: ${text.data.trim().slice(0, 80)}`);
  }
  return faults;
};
