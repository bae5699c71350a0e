document.querySelectorAll(".pe-heat-map:not(.live)").forEach((root) => {
  root.classList.add("live");
  const form = root.querySelector("form");
  const number = (x) => (Math.round(100 * x) / 100).toFixed(2).replace("-", "−");
  const chosen = (input) => {
    const value = +input.dataset.values.split(" ")[input.value], text = value.toLocaleString("en");
    input.setAttribute("aria-valuetext", text);
    input.previousSibling.textContent = text;
    return value;
  };

  const draw = () => {
    const t = +form.elements.t.value;
    const d = chosen(form.elements.d), base = chosen(form.elements.base);
    form.elements.t.previousSibling.textContent = t;
    const entry = (t, i) => Math[i % 2 ? "cos" : "sin"](t / base ** ((2 * (i >> 1)) / d));
    const colours = root.querySelectorAll("path.now");
    const strokes = [...colours].map(() => "");
    for (let i = 0; i < d; i++) {
      for (let from = 0, to; from < 32; from = to) {
        const level = Math.round(4 * entry(from, i) + 4);
        for (to = from + 1; to < 32 && Math.round(4 * entry(to, i) + 4) == level; ) to++;
        strokes[level] += `M${from} ${i}h${to - from}`;
      }
    }
    colours.forEach((path, level) => path.setAttribute("d", strokes[level]));
    colours[0].parentNode.setAttribute("transform", `translate(10 ${18 + 64 / d}) scale(10 ${128 / d})`);
    root.querySelector(".cursor").setAttribute("transform", `translate(${10 * t})`);
    const digits = [0, 1, 2, 3, 4].map((j) => (t >> j) & 1);
    const code = Array.from({ length: d }, (_, i) => number(entry(t, i)));
    root.querySelector("output").textContent =
      `Each clock is ${(base ** (2 / d)).toFixed(2)} times slower than the one above it, ` +
      `each digit 2 times. Position ${t}: digits ${digits.join(" ")}, code ${code.join(" ")}.`;
  };
  // JupyterLab leaves the arrow keys to controls with this attribute.
  for (const control of form) control.dataset.lmSuppressShortcuts = true;
  form.hidden = false;
  form.oninput = draw;
});
