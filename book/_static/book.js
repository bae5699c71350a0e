// A formula that scrolls in its box can be reached with the Tab key; one that fits is no
// stop. Looked at again when its box changes: a fold opens, the window turns.
"use strict";

const boxes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
addEventListener("load", () => {
  for (const box of document.querySelectorAll("div.math")) boxes.observe(box);
});
