// A drawing of Python's as this browser writes it, and what the panel draws for the same
// state; both without what the script adds for keys and voices.
([name, state, body]) => {
  const panel = document.querySelector(`[data-panel="${name}"]`);
  const plain = (svg) => svg.innerHTML.replaceAll(/ (tabindex|role|aria-[a-z]+)="[^"]*"/g, "");
  const still = panel.querySelector("svg").cloneNode();
  still.innerHTML = body;
  panel.dispatchEvent(new CustomEvent("draw", { detail: state }));
  return [plain(still), plain(panel.querySelector("svg")), panel.querySelector("output").textContent];
};
