// What the explorer shows for every pair of places of its two sliders.
() => {
  const root = document.querySelector(".pe-explorer");
  const form = root.querySelector("form"),
    seen = [];
  for (let a = -2; a <= 2; a += 0.5)
    for (let b = -2; b <= 2; b += 0.5) {
      form.elements.a.value = a;
      form.elements.b.value = b;
      form.dispatchEvent(new Event("input"));
      const bars = root.querySelector("path.now").getAttribute("d");
      const scores = root.querySelector("dd").textContent;
      seen.push([a, b, scores, bars, root.querySelector(".line").textContent]);
    }
  return seen;
};
