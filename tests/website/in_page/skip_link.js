// Whether the keyboard's first stop leads to the text and can be seen.
() => {
  const e = document.activeElement,
    box = e.getBoundingClientRect();
  const target = (e.getAttribute("href") || "").replace(/^#/, "");
  const faults = [];
  if (!/skip/i.test(e.textContent) || !document.getElementById(target))
    faults.push(`first stop: ${e.outerHTML.slice(0, 80)}`);
  if (box.width < 2 || box.bottom < 2 || box.right < 2) faults.push("it is not seen");
  return faults;
};
