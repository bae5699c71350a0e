// The list of claims, filtered by word and verdict; without script all of it shows.
"use strict";
{
  const entries = [...document.querySelectorAll(".claim-entry")];
  const form = document.querySelector(".claim-filter");
  const is = (entry, kind) => !kind || entry.classList.contains(kind);
  const { word } = form.elements;
  const buttons = [...form.querySelectorAll("[role=group] button")];
  const output = form.querySelector("output");
  const all = form.querySelector("[type=reset]");
  let kind = "";

  const filter = filtered(entries.map((entry) => entry.textContent), (ids, meant) => {
    const found = entries.filter((_, id) => ids.has(id));
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.value === kind));
      button.lastElementChild.textContent = found.filter((entry) => is(entry, button.value)).length;
    }
    const shown = new Set(found.filter((entry) => is(entry, kind)));
    for (const entry of entries) entry.hidden = !shown.has(entry);
    output.textContent = `${shown.size} of ${entries.length} claims${taken(meant)}`;
    all.hidden = shown.size === entries.length;
  });
  const show = () => filter(word.value);
  const reset = () => {
    kind = word.value = "";
    show();
  };

  for (const button of buttons) {
    button.addEventListener("click", () => {
      kind = button.value;
      show();
    });
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    reset();
    word.focus();
  });

  // An address that leads to a hidden claim shows all of them again.
  const lead = () => {
    const target = document.getElementById(new URLSearchParams(`id=${location.hash.slice(1)}`).get("id"));
    if (!target?.closest(".claim-entry[hidden]")) return;
    reset();
    target.scrollIntoView();
  };
  addEventListener("hashchange", lead);

  lead();
}
