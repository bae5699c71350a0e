document.querySelectorAll(".pe-shuffle:not(.live)").forEach((root) => {
  root.classList.add("live");
  const form = root.querySelector("form"), [first, last] = form.querySelectorAll("button");
  const number = (x) => (Math.round(100 * x) / 100).toFixed(2).replace("-", "−");
  const words = ["dog", "bites", "man"], vectors = [[1, 0], [1, 1], [0, -1]];
  let order = [0, 1, 2];

  // What goes in and what comes out of attention, by word.
  const attend = (order, codes) => {
    const X = [];
    order.forEach((word, t) => {
      const code = codes ? [Math.sin(t), Math.cos(t)] : [0, 0];
      X[word] = vectors[word].map((x, i) => x + code[i]);
    });
    return X.map(([a, b]) => {
      const powers = X.map(([c, d]) => Math.exp((a * c + b * d) / Math.sqrt(2)));
      const sum = powers[0] + powers[1] + powers[2];
      const mix = (i) => X.reduce((so_far, x, w) => so_far + (powers[w] * x[i]) / sum, 0);
      return [a, b, mix(0), mix(1)].map(number);
    });
  };
  const draw = () => {
    const codes = form.elements[2].checked, numbers = attend(order, codes);
    const before = attend([0, 1, 2], codes);
    const changed = words.filter((_, w) => "" + numbers[w].slice(2) != before[w].slice(2));
    root.querySelectorAll("g").forEach((group, word) => {
      group.style.transform = `translateX(${105 + 95 * order.indexOf(word)}px)`;
      group.querySelectorAll(".x").forEach((text, i) => (text.textContent = numbers[word][i]));
    });
    const verdict = "" + order == "0,1,2" ? "the order to compare with"
      : changed[0] ? `changed: ${changed.join(", ")}` : "no number changed, they moved along";
    root.querySelector("output").textContent =
      order.map((w) => [words[w], ...numbers[w].slice(2)].join(" ")).join(", ") + `: ${verdict}.`;
  };
  first.onclick = () => draw((order = [order[1], order[0], order[2]]));
  last.onclick = () => draw((order = [order[0], order[2], order[1]]));
  // JupyterLab leaves the arrow keys to controls with this attribute.
  for (const control of form) control.dataset.lmSuppressShortcuts = true;
  form.hidden = false;
  form.oninput = draw;
});
