// Folds open by themselves when an address, a link or a search hit leads into them, and
// for the printer (but answers stay folded: a handout); one button opens and closes all folds of a page.
"use strict";
{
  const folds = [...document.querySelectorAll("details.fold")];
  const button = document.querySelector("button.open-folds");

  // A link to a claim or to the questions wants its fold open, too, not only those around it.
  const lead = (hash) => {
    const id = decodeURIComponent(hash.slice(1));
    let target = id && document.getElementById(id);
    if (!target) return;
    if (target.matches("span:empty")) target = target.parentElement;
    const holder = target.matches("dt") ? target.nextElementSibling : target;
    const inner = holder.matches("section, .cell, dd, .claim-entry")
      && holder.querySelector(":scope > :is(details.fold, .claim-entry > details)");
    const closed = [];
    for (let at = inner || target; at; at = at.parentElement) {
      if (at.matches("details:not([open])")) closed.push(at);
    }
    for (const fold of closed) fold.open = true;
    if (closed.length) target.scrollIntoView();
  };
  lead(location.hash);
  addEventListener("hashchange", () => lead(location.hash));
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href*='#']");
    if (link && link.pathname === location.pathname && !event.defaultPrevented) {
      if (link.hash === location.hash) lead(link.hash); // else the hash will change
    }
  });

  const label = () => {
    button.textContent = folds.every((fold) => fold.open) ? "Close all" : "Open all";
  };
  if (button && folds.length) {
    button.addEventListener("click", () => {
      const open = !folds.every((fold) => fold.open);
      for (const fold of folds) fold.open = open;
    });
    for (const fold of folds) fold.addEventListener("toggle", label);
    label();
    button.hidden = false;
  }

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = folds.filter((fold) => !fold.open && fold.matches(".fold-recall, .fold-check"));
    for (const fold of opened) fold.open = true;
    for (const address of document.querySelectorAll(".printed i:empty")) {
      address.textContent = location.href.replace(/#.*/, "");
    }
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
}
