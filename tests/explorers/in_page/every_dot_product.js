// What the explorer says for every pair of places of its two sliders.
() => {
  const root = document.querySelector(".pe-explorer");
  const form = root.querySelector("form"),
    lines = [];
  for (let d = 0; d < 9; d++)
    for (let base = 0; base < 9; base++) {
      form.elements.d.value = d;
      form.elements.base.value = base;
      form.dispatchEvent(new Event("input"));
      lines.push(root.querySelector(".line").textContent);
    }
  return lines;
};
