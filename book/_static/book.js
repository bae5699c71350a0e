// A formula that scrolls in its box can be reached with the Tab key; one that fits is no stop.
"use strict";

const reachFormulas = () => {
  for (const box of document.querySelectorAll("div.math")) {
    const scrolls = box.scrollWidth > box.clientWidth;
    box.toggleAttribute("tabindex", scrolls);
    if (scrolls) box.tabIndex = 0;
  }
};
addEventListener("load", reachFormulas);
addEventListener("resize", reachFormulas);
