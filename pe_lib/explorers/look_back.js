document.querySelectorAll(".pe-look-back:not(.live)").forEach((root) => {
  root.classList.add("live");
  const find = (css) => [...root.querySelectorAll(css)];
  const [output, form] = find("output, form"), [bars, hits, misses] = find(".now");

  const columns = {
    binary: (t) => [0, 1, 2, 3].map((j) => 2 * ((t >> j) & 1) - 1),
    dials: (t) => [4, 8, 16, 32].map((turn) => Math.sin((2 * Math.PI * t) / turn)),
  };
  const score = (code, knobs, t, s) => {
    let sum = 0;
    if (code == "counting") return knobs[0] * s;
    if (code != "sinusoid") {
      const key = columns[code](s);
      columns[code](t).forEach((x, j) => (sum += knobs[j] * x * key[j]));
      return sum;
    }
    for (let j = 0; j < 16; j++) sum += Math.cos((t - s - knobs[0]) / 1e4 ** (j / 16));
    return knobs[1] * sum;
  };
  const look = (code, knobs, t) => {
    const scores = [...Array(16).keys()].map((s) => score(code, knobs, t, s));
    const top = Math.max(...scores);
    const powers = scores.map((x) => Math.exp(x - top));
    const total = powers.reduce((sum, x) => sum + x);
    // Scores that differ by rounding only are a draw.
    const best = scores.flatMap((x, s) => (x > top - 1e-9 ? [s] : []));
    return [powers.map((x) => x / total), best, best == t - 3];
  };

  const draw = () => {
    const code = form.elements.code.value, t = +form.elements.t.value;
    find("[data-codes]").forEach((x) => (x.hidden = !x.matches(`[data-codes~=${code}]`)));
    find("[type=range]").forEach((x) => (x.previousSibling.textContent = x.value.replace("-", "−")));
    const knobs = find(`[data-codes~=${code}] input`).map((x) => +x.value);
    const [weights, best, hit] = look(code, knobs, t);
    const dots = { true: "", false: "" };
    for (let q = 3; q < 16; q++) dots[look(code, knobs, q)[2]] += `M${20 * q + 20} 148h0`;
    const won = dots.true.split("M").length - 1;
    bars.setAttribute("d", weights.map((w, s) => `M${20 * s + 20} 105V${(105 - 90 * w).toFixed(1)}`).join(""));
    bars.setAttribute("class", hit ? "now green" : "now blue");
    hits.setAttribute("d", dots.true);
    misses.setAttribute("d", dots.false);
    find("g")[0].setAttribute("transform", `translate(${20 * t})`);
    output.textContent =
      `Position ${t} ` +
      (best[1] ? `cannot decide between ${best.length} positions.`
        : `looks most at ${best} (weight ${weights[best].toFixed(2)}), ` +
          (hit ? "three back." : `not at ${t - 3}.`)) +
      ` Right: ${won} of 13 positions.${won > 12 ? " You win." : ""}`;
  };
  // JupyterLab leaves the arrow keys to controls with this attribute.
  for (const control of form) control.dataset.lmSuppressShortcuts = true;
  form.hidden = false;
  form.oninput = draw;
});
