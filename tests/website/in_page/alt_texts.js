// Pictures without a text of more than `shortest` characters, unless no one is told of them.
(shortest) => {
  const main = document.querySelector("main") || document.body;
  const unseen = (e) =>
    e.closest(
      "[aria-hidden=true], [role=presentation], button, summary, a[aria-label]",
    );
  const inner = (e) => e.parentElement.closest("svg");
  const faults = [];
  for (const e of main.querySelectorAll("svg")) {
    if (unseen(e) || inner(e)) continue;
    const label = e.getAttribute("aria-label") || "";
    const role = e.querySelector("[role=slider], [role=switch]") ? "group" : "img";
    if (e.getAttribute("role") !== role || label.length <= shortest)
      faults.push(`svg without alt text: ${e.outerHTML.slice(0, 120)}`);
  }
  for (const e of main.querySelectorAll("img")) {
    const alt = e.getAttribute("alt") || "";
    if (!unseen(e) && (alt.length <= shortest || /\.(svg|png)$/.test(alt)))
      faults.push(`img without alt text: ${e.outerHTML.slice(0, 120)}`);
  }
  return faults;
};
