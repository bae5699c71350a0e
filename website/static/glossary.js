// The words whose name or meaning has what was typed.
"use strict";
{
  const form = document.querySelector(".word-filter");
  const entries = [...document.querySelectorAll("section > section")];
  const output = form.querySelector("output");
  const filter = filtered(entries.map((entry) => entry.textContent), (ids, meant) => {
    for (const [id, entry] of entries.entries()) entry.hidden = !ids.has(id);
    output.textContent = ids.size < entries.length || meant.length ? `${ids.size} of ${entries.length} words${taken(meant)}` : "";
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target }) => filter(target.value));
}
