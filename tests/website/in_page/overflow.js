// What stands out on the right and is in no box that can be scrolled or that cuts it off;
// and tables that go on, on a phone, in a box that does not fade.
() => {
  const root = document.documentElement,
    faults = [];
  if (root.scrollWidth > root.clientWidth)
    faults.push(`${root.scrollWidth} px in a window of ${root.clientWidth} px`);
  const main = document.querySelector("main") || document.body;
  const boxed = new Map();
  const inBox = (e) => {
    if (e === null || e === root || e === document.body) return false;
    if (!boxed.has(e)) {
      const style = getComputedStyle(e);
      const own =
        ["auto", "scroll"].includes(style.overflowX) ||
        style.position === "fixed" ||
        style.clipPath !== "none" ||
        style.clip !== "auto";
      boxed.set(e, own || inBox(e.parentElement));
    }
    return boxed.get(e);
  };
  for (const e of main.querySelectorAll("*:not(svg *, .katex *)")) {
    const box = e.getBoundingClientRect();
    if (
      box.width > 0 &&
      box.right > root.clientWidth + 1 &&
      e.checkVisibility() &&
      !inBox(e)
    )
      faults.push(e.outerHTML.slice(0, 80));
  }
  for (const table of root.clientWidth > 640 ? [] : main.querySelectorAll("table"))
    if (table.getBoundingClientRect().right > root.clientWidth + 1)
      if (getComputedStyle(table.parentElement).maskImage === "none")
        faults.push(`no fade: ${table.textContent.trim().slice(0, 80)}`);
  return faults.slice(0, 5);
};
