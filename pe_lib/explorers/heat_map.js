each("heat-map", (root, controls, form) => {
  const svg = root.querySelector("svg");
  svg.onpointerdown = svg.onpointermove = (event) => {
    if (!event.buttons) return;
    const box = svg.getBoundingClientRect();
    controls.t.value = Math.floor(((event.clientX - box.left) / box.width) * 34 - 1);
    form.oninput();
  };
  return () => {
    const t = +controls.t.value, d = chosen(controls.d), base = chosen(controls.base);
    const entry = (t, i) => Math[i % 2 ? "cos" : "sin"](t / base ** ((2 * (i >> 1)) / d));
    const strokes = Array(18).fill("");
    for (let i = 0; i < d; i++) {
      for (let from = 0, to; from < 32; from = to) {
        const level = Math.round(4 * entry(from, i) + 4);
        for (to = from + 1; to < 32 && Math.round(4 * entry(to, i) + 4) == level; ) to++;
        strokes[9 * (i % 2) + level] += `M${from} ${i}h${to - from}`;
      }
    }
    root.querySelector("svg > g").setAttribute("transform", `translate(10 ${18 + 64 / d}) scale(10 ${128 / d})`);
    const digits = range(5).map((j) => (t >> j) & 1), code = range(d).map((i) => fixed(entry(t, i)));
    show(
      root,
      [...strokes, `translate(${10 * t})`, t, digits.join(" "), code.join(" ")],
      `Each hand is ${(base ** (2 / d)).toFixed(2)} times slower than the one above it, each digit 2 times.`,
      base == 2 ** (d / 2),
    );
  };
});
