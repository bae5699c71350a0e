// What the explorers share. Each ships it before its own script, in one block, so that
// no name leaves it. What moves has the class "now", and is set in the order of the page.
const all = (root, css) => [...root.querySelectorAll(css)];
const minus = (x) => String(x).replace("-", "−");
const fixed = (x, digits = 2) => minus((Math.round(x * 10 ** digits) / 10 ** digits + 0).toFixed(digits));
const range = (n) => [...Array(n).keys()];
const degrees = (angle) => Math.round((angle * 180) / Math.PI);
// The same angle, more than half a turn neither way; half a turn is 180 degrees, not -180.
const wrap = (x) => x - 2 * Math.PI * Math.ceil(x / 2 / Math.PI - 0.5);
const softmax = (scores) => {
  const top = Math.max(...scores), powers = scores.map((x) => Math.exp(x - top));
  const total = powers.reduce((sum, x) => sum + x);
  return powers.map((x) => x / total);
};
// The highest of these; what differs by rounding only is a draw.
const highest = (scores) => {
  const top = Math.max(...scores);
  return scores.flatMap((x, s) => (x > top - 1e-9 ? [s] : []));
};
// A hand's moving pieces: arc from before and pale hand, dotted hand, legs, arm.
const rotate = (angle) => `rotate(${((angle * 180) / Math.PI + 0).toFixed(1)})`;
const tip = (angle, r) => `${(r * Math.sin(angle) + 0).toFixed(1)} ${(-r * Math.cos(angle) + 0).toFixed(1)}`;
const arc = (from, to, r = 26) =>
  `M${tip(from, r)}A${r} ${r} 0 ${+(Math.abs(to - from) % (2 * Math.PI) > Math.PI)} ${+(to > from)} ${tip(to, r)}`;
const pose = (angle, { before, ghost, legs = true } = {}) => {
  const [x, y] = tip(angle, 44).split(" ");
  return [
    ...(before === undefined ? [] : [arc(before, angle), rotate(before)]),
    ...(ghost === undefined ? [] : [rotate(ghost)]),
    ...(legs ? [`M0 0V${y}`, `M0 ${y}H${x}`] : []),
    rotate(angle),
  ];
};
const show = (root, now, said, won) => {
  all(root, ".now").forEach((x, i) => {
    const name = { g: "transform", path: "d" }[x.tagName];
    if (name) x.setAttribute(name, now[i]);
    else if (x.textContent !== "" + now[i]) x.textContent = now[i];
  });
  const line = root.querySelector(".line");
  if (line.textContent !== said) line.textContent = said;
  root.querySelector(".reached").hidden = !won;
};
// For each query the keys it looks at, as lamps: lit where that is the one before.
const lamp = (text, is) => `<span data-is="${is}">${text}</span>`;
const lamps = (looks) =>
  looks.map((at, i) =>
    lamp(`${i + 1} → ${at.join(", ")}`, at == i ? "yes" : at.includes(i) ? "part" : "no")).join("");
// Where the pointer stands on a dial: the angle from 12 o'clock.
const bearing = (svg, { clientX, clientY }) => {
  const box = svg.getBoundingClientRect();
  return Math.atan2(clientX - box.left - box.width / 2, box.top + box.height / 2 - clientY);
};
const mark = (piece, marks) => Object.entries(marks).forEach(([name, value]) => piece.setAttribute(name, value));
// A finger that begins here does not scroll the page; touch-action is not heard inside an SVG.
const hold = (piece) => piece.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
// What a finger or a mouse takes, moves and drops.
const grip = (piece, take, move, drop) => {
  piece.classList.add("turns");
  hold(piece);
  piece.addEventListener("keydown", () => piece.classList.remove("held"));
  piece.onpointerdown = (event) => {
    event.preventDefault();
    piece.classList.add("held");
    piece.setPointerCapture(event.pointerId);
    take?.(event);
  };
  piece.onpointermove = (event) => piece.hasPointerCapture(event.pointerId) && move(event);
  piece.onlostpointercapture = drop;
};
// A hand by which one turns all: how far, since it was last told.
const crank = (svg, take, turn, drop) => {
  let at;
  grip(svg, (event) => take((at = bearing(svg, event))), (event) => turn(wrap(-at + (at = bearing(svg, event)))), drop);
};
// Calls begin once for each explorer of this kind that has none yet, and draws.
const each = (name, begin) =>
  all(document, `.pe-${name}:not(.live)`).forEach((root) => {
    root.classList.add("live");
    const form = root.querySelector("form");
    const draw = begin(root, form.elements, form);
    // JupyterLab leaves the arrow keys to controls with this attribute.
    for (const control of form) control.dataset.lmSuppressShortcuts = true;
    form.hidden = false;
    form.oninput = (event) => {
      all(form, "[type=range]").forEach((x) => {
        const listed = x.dataset.values?.split(" ")[x.value];
        const text = minus(listed ? (+listed).toLocaleString("en") : x.value);
        x.previousSibling.textContent = text;
        if (listed) x.setAttribute("aria-valuetext", text);
      });
      draw(event);
    };
  });
const chosen = (input) => +input.dataset.values.split(" ")[input.value];
