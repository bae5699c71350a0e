// A link to a claim or to the questions wants its fold open; those around what it leads to
// a browser opens by itself.
"use strict";
{
  const lead = () => {
    const id = new URLSearchParams(`id=${location.hash.slice(1)}`).get("id");
    let target = id && document.getElementById(id);
    if (target && target.matches("span:empty")) target = target.parentElement;
    const fold = target && target.querySelector(":scope > :is(details.fold, .claim-entry > details)");
    if (fold) fold.open = true;
  };
  lead();
  addEventListener("hashchange", lead);
  addEventListener("click", ({ target }) => {
    if (target.closest("a[href]")?.href === location.href) lead(); // else the hash changes
  });
}
