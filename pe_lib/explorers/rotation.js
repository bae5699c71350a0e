// The shift matrix: one turn for each hand, under every position the same.
{
  // A knob, its square of the matrix, and its hand under several positions.
  const row = (y, angle, r, side, x, dials) =>
    group(moved(0, y), group(moved(54, 0), dial(r, angle)), group(moved(x, 0), square(angle, side, side > 40)), ...dials);
  const knob = (y, r, angle, more) => {
    const [x, up] = tip(angle, r);
    return { x: 54 + x, y: y + up, hit: [-x - r - 8, -up - r - 8, 2 * r + 16, 2 * r + 16], around: [54, y], value: angle, text: `${Math.round(degrees(angle))} degrees`, ...more };
  };
  const SPEEDS = frequencies(16).slice(0, 3), fits = (angle, j) => Math.abs(wrap(angle - SPEEDS[j])) < 0.0005;

  drawings.turn = {
    size: [600, 420],
    alt: "Three knobs, one for each hand. Beside each are a square of the matrix, cosines in orange and sines in blue, and the hands of eight positions, turned by the knob. Dotted hands are those of the next position.",
    goal: "Turn the knobs until the hands of all positions lie on the dotted ones.",
    reward: "<b>T(1) takes the encoding of every position to the next.</b> It is a rotation, and no position occurs in it.",
    start: { angles: [0, 0, 0] },
    view({ angles }) {
      const rows = angles.map((angle, j) => row(84 + 132 * j, angle, 44, 34, 158, range(8).map((t) =>
        group(moved(230 + 49 * t, 0), dial(21, SPEEDS[j] * t + angle, { wanted: SPEEDS[j] * (t + 1), fit: fits(angle, j) })))));
      const hits = angles.filter(fits).length;
      return {
        svg: range(8).map((t) => text(230 + 49 * t, 30, t, "count")).join("") + rows.join(""),
        sentence: `${hits} of 3 hands fit, each at all eight positions at once.`,
        reached: hits === 3,
      };
    },
    handles: ({ angles }) => angles.map((angle, j) => knob(84 + 132 * j, 44, angle, {
      label: `Knob ${j + 1} of 3`, low: -TURN, high: TURN, step: 0.05,
      set: (to) => ({ angles: angles.map((a, i) => (i === j ? notched(to, SPEEDS[j]) : a)) }),
    })),
  };

  const SLOWER = frequencies(3, 50);
  drawings.rotation = {
    size: [600, 540],
    alt: "Three knobs that turn together, one for each hand. Beside each are its four numbers of T(k), and its hand at five positions: pale at position t, full at position t + k. Below is a line of positions.",
    goal: "Move the position as far as you like. Then find a way to change T(k).",
    reward: "<b>A different offset.</b> There is no other way: only the offset k occurs in T(k), not the position.",
    start: { position: 2, offset: 3, moved: false, turned: false },
    view({ position, offset, moved: went, turned: changed, last }) {
      const rows = SLOWER.map((w, j) =>
        row(86 + 142 * j, w * offset, 42, 58, 186, range(5).map((i) =>
          group(moved(288 + 66 * i, 0), dial(28, w * (position + i + offset), { before: w * (position + i), legs: true })))) +
        text(54, 168 + 142 * j, `${fixed(w * offset)} rad`, "count"));
      const T = `T(${minus(offset)})`;
      return {
        svg: text(54, 24, "k") + text(186, 24, T) + range(5).map((i) => text(288 + 66 * i, 24, position + i, "count")).join("") +
          rows.join("") + path("edge", "M170 490H570") + range(5).map((i) => path("edge", `M${170 + 100 * i} 485v10`) + text(170 + 100 * i, 530, 10 * i, "count")).join("") + text(84, 497, "position t", "count"),
        sentence: `${last === "moved" ? `You moved the position, and nothing moved in ${T}. ` : ""}${T} takes position ${position} to ${minus(position + offset)}.`,
        reached: went && changed,
      };
    },
    handles: ({ position, offset, moved: went }) => [
      ...SLOWER.map((w, j) => knob(86 + 142 * j, 42, w * offset, {
        label: `Offset k, by hand ${j + 1}`, text: `k is ${offset}`, low: -24 * w, high: 24 * w, step: w,
        set: (angle) => ({ offset: Math.round(angle / w), turned: went, last: "turned" }),
      })),
      {
        label: "Position t", text: `position ${position}`, x: 170 + 10 * position, y: 490, value: position, low: 0, high: 40, step: 1, along: [10, 0],
        set: (to) => ({ position: Math.round(to), moved: true, last: "moved" }),
      },
    ],
  };
}
