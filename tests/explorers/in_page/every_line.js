// What the explorer shows for every pair of places of its two sliders.
() => {
  const root = document.querySelector(".pe-explorer");
  const form = root.querySelector("form"),
    seen = [];
  for (let slope = -2; slope <= 2; slope += 0.5)
    for (let height = -2; height <= 2; height += 0.5) {
      form.elements.slope.value = slope;
      form.elements.height.value = height;
      form.dispatchEvent(new Event("input"));
      const bars = root.querySelector("path.now").getAttribute("d");
      const scores = root.querySelector("dd").textContent;
      seen.push([slope, height, scores, bars, root.querySelector(".line").textContent]);
    }
  return seen;
};
