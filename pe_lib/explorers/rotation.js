document.querySelectorAll(".pe-rotation:not(.live)").forEach((root) => {
  root.classList.add("live");
  const form = root.querySelector("form");
  const minus = (text) => String(text).replace("-", "−");
  // Two digits, without a negative zero.
  const number = (x) => minus((Math.round(100 * x) / 100).toFixed(2));
  const tip = (angle, radius) =>
    `${(radius * Math.sin(angle)).toFixed(1)} ${(-radius * Math.cos(angle)).toFixed(1)}`;

  const draw = () => {
    const t = +form.elements.t.value, k = +form.elements.k.value;
    root.querySelectorAll("b").forEach((b, i) => (b.textContent = minus([t, k][i])));
    const speeds = [0, 1, 2].map((j) => 50 ** (-j / 3));
    const turns = speeds.map((speed) => speed * k);
    const blocks = turns.map((turn) => {
      const sin = Math.sin(turn), cos = Math.cos(turn);
      return [cos, sin, -sin, cos].map(number);
    });
    root.querySelectorAll("svg > g").forEach((clock, j) => {
      const before = speeds[j] * t, after = before + turns[j];
      const large = +(Math.abs(turns[j]) % (2 * Math.PI) > Math.PI), clockwise = +(k > 0);
      const lines = [
        `M${tip(before, 20)}A20 20 0 ${large} ${clockwise} ${tip(after, 20)}`,
        `M0 0L${tip(before, 44)}`,
        `M0 0L${tip(after, 44)}`,
      ];
      clock.querySelectorAll(".now").forEach((path, i) => path.setAttribute("d", lines[i]));
      clock.querySelectorAll(".entry").forEach((text, i) => (text.textContent = blocks[j][i]));
    });
    root.querySelector(".name").textContent = `T(${minus(k)}), block by block`;
    const [a, b, c, d] = blocks[0], [first, second, third] = turns.map(number);
    root.querySelector("output").textContent =
      `T(${minus(k)}) takes position ${t} to ${minus(t + k)}: the hands turn by ` +
      `${first}, ${second} and ${third} radians. First block: ${a}, ${b}; ${c}, ${d}.`;
  };
  // JupyterLab leaves the arrow keys to controls with this attribute.
  for (const control of form) control.dataset.lmSuppressShortcuts = true;
  form.hidden = false;
  form.oninput = draw;
});
