// What the explorer shows for every pair of offsets, without and with diagonals.
() => {
  const root = document.querySelector(".pe-explorer");
  const form = root.querySelector("form"),
    seen = [];
  for (const diagonals of [false, true])
    for (let down = -3; down <= 3; down++)
      for (let right = -3; right <= 3; right++) {
        form.elements.diagonals.checked = diagonals;
        form.elements.down.value = down;
        form.elements.right.value = right;
        form.dispatchEvent(new Event("input"));
        const of = (css, name) =>
          [...root.querySelectorAll(css)].map((x) => x.getAttribute(name));
        seen.push([
          down,
          right,
          diagonals,
          of("path.now", "d"),
          of("g.now", "transform"),
          root.querySelector(".line").textContent,
          !root.querySelector(".reached").hidden,
        ]);
      }
  return seen;
};
