// TeX in the text: a formula that was never drawn.
() => {
  const faults = [];
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
