// The shift matrix: one turn for each hand, under every position the same.
{
  const SPEEDS = frequencies(16).slice(0, 3), R = 44, middle = (j) => 84 + 132 * j;
  const fits = (angle, j) => Math.abs(wrap(angle - SPEEDS[j])) < 0.0005;
  // An angle falls into the notch of another, if it is near; a whole turn on there is one, too.
  const notched = (x, notch) => (Math.abs(wrap(x - notch)) < 0.045 ? x - wrap(x - notch) : x);
  // The square of one hand in the matrix: cosine twice, sine twice, once with a minus.
  const square = (angle) => {
    const sin = Math.sin(angle), cos = Math.cos(angle);
    const parts = [[cos, "cosine", -1, -1], [sin, "sine", 0, -1], [-sin, "sine", -1, 0], [cos, "cosine", 0, 0]];
    return parts.map(([v, kind, x, y]) =>
      `<g class="entry" opacity="${plain(Math.abs(v), 2)}">${box(kind, 34 * x, 34 * y, 34, 34)}</g>` +
      (v < -0.005 ? path("minus", `M${at(34 * (x + 0.32), 34 * (y + 0.5))}h12`) : "")).join("") +
      path("edge", "M-34 -37H-38V37H-34M34 -37H38V37H34");
  };

  drawings.turn = {
    size: [600, 420],
    alt: "Three knobs, one for each hand. Beside each are a square of the matrix, cosines in orange and sines in blue, and the hands of eight positions, turned by the knob. Dotted hands are those of the next position.",
    goal: "Turn the knobs until the hands of all positions lie on the dotted ones.",
    reward: "<b>T(1) takes the encoding of every position to the next.</b> It is a rotation, and no position occurs in it.",
    start: { angles: [0, 0, 0] },
    view({ angles }) {
      const rows = angles.map((angle, j) => group(moved(0, middle(j)), group(moved(54, 0), dial(R, angle)), group(moved(158, 0), square(angle)),
        ...range(8).map((t) => group(moved(230 + 49 * t, 0), dial(21, SPEEDS[j] * t + angle, { wanted: SPEEDS[j] * (t + 1), fit: fits(angle, j) })))));
      const hits = angles.filter(fits).length;
      return {
        svg: range(8).map((t) => text(230 + 49 * t, 30, t, "count")).join("") + rows.join(""),
        sentence: `${hits} of 3 hands fit, each at all eight positions at once.`,
        reached: hits === 3,
      };
    },
    handles: ({ angles }) => angles.map((angle, j) => ({
      ...knob(54, middle(j), R, angle, 8), label: `Knob ${j + 1} of 3`, text: `${Math.round(degrees(angle))} degrees`, low: -TURN, high: TURN, step: 0.05,
      set: (to) => ({ angles: angles.map((a, i) => (i === j ? notched(to, SPEEDS[j]) : a)) }),
    })),
  };
}
