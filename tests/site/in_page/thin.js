// Replace what a page repeats by stand-ins of the same size and colour; `putBack` undoes it.
() => {
  const kept = [];
  const swap = (e, nodes) => {
    kept.push([e, [...e.childNodes]]);
    e.replaceChildren(...nodes);
  };
  for (const e of document.querySelectorAll("svg[role=img]")) swap(e, []);
  for (const e of document.querySelectorAll(".katex math")) swap(e, []);
  const formulas = [...document.querySelectorAll(".katex-html")].map((e) => {
    const size = e.getBoundingClientRect();
    return [e, Math.max(size.width, e.scrollWidth), size.height];
  });
  for (const [e, width, height] of formulas) {
    const box = document.createElement("span");
    box.innerHTML = "<span>ii</span><span>ii</span>";
    box.style =
      "display: inline-flex; justify-content: space-between; " +
      `width: ${width}px; height: ${height}px`;
    swap(e, [box]);
  }
  const seen = new Set();
  for (const e of document.querySelectorAll(".highlight pre")) {
    const copy = e.cloneNode(true);
    const kind = e.closest(".cell_output, .cell_input, .highlight").className;
    for (const span of copy.querySelectorAll("span")) {
      const key = `${kind} ${span.className}`;
      if (seen.has(key)) span.replaceWith(...span.childNodes);
      seen.add(key);
    }
    copy.normalize();
    swap(e, [...copy.childNodes]);
  }
  window.putBack = () => {
    for (const [e, nodes] of kept.reverse()) e.replaceChildren(...nodes);
    delete window.putBack;
  };
};
