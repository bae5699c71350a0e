// What the explorer shows for every place of its slider.
() => {
  const root = document.querySelector(".pe-explorer");
  const form = root.querySelector("form"),
    seen = [];
  for (let i = 1; i < 100; i++) {
    form.elements.w.value = i / 100;
    form.dispatchEvent(new Event("input"));
    const [word, distance] = root.querySelectorAll("dd");
    const curve = root.querySelector(".plot path.now").getAttribute("d");
    const reached = !root.querySelector(".reached").hidden;
    seen.push([word.textContent, distance.textContent, curve, reached]);
  }
  return seen;
};
