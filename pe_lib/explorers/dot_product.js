document.querySelectorAll(".pe-dot-product:not(.live)").forEach((root) => {
  root.classList.add("live");
  const form = root.querySelector("form");
  const [line, mark] = root.querySelectorAll("path.now");
  const chosen = (input) => {
    const value = +input.dataset.values.split(" ")[input.value], text = value.toLocaleString("en");
    input.setAttribute("aria-valuetext", text);
    input.previousSibling.textContent = text;
    return value;
  };

  const draw = () => {
    const d = chosen(form.elements.d), base = chosen(form.elements.base);
    const shares = Array.from({ length: 101 }, (_, k) => {
      let sum = 0;
      for (let j = 0; j < d / 2; j++) sum += Math.cos(k / base ** ((2 * j) / d));
      return sum / (d / 2);
    });
    const rises = [...shares.keys()].filter((k) => shares[k + 1] > shares[k]), k = rises[0];
    const points = shares.map((share, i) => `${26 + 3 * i} ${(76 - 60 * share).toFixed(1)}`);
    line.setAttribute("d", "M" + points.join("L"));
    mark.setAttribute("d", `M${points[k]}h0`);
    root.querySelector("output").textContent =
      `${d} numbers, base ${base.toLocaleString("en")}: first rises from offset ` +
      `${k} to ${k + 1}. Rises ${rises.length} times in 100.`;
  };
  // JupyterLab leaves the arrow keys to controls with this attribute.
  for (const control of form) control.dataset.lmSuppressShortcuts = true;
  form.hidden = false;
  form.oninput = draw;
});
