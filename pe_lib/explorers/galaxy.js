// Encodings of two numbers, each the one before, turned and stretched: on a ring, if their norms are equal.
{
  // The matrix of a turn and a stretch. It catches on the ring, and there on equal parts of it.
  const caught = ({ size, turn: wound }) => {
    const turn = wrap(wound);
    if (Math.abs(size - 1) >= 0.04) return [size, turn];
    const n = Math.round(TURN / Math.abs(turn)), part = (Math.sign(turn) * TURN) / n;
    return [1, n > 2 && n < 13 && Math.abs(turn - part) < 0.015 ? part : turn];
  };
  const far = (norm) =>
    norm > 1e6 ? "millions of times" : norm > 1 ? `${Math.round(norm).toLocaleString("en")} times` : `${fixed(100 * norm, norm >= 0.01 ? 0 : 2)} % of`;
  const numbered = (t) => circle("solid", 15) + text(0, 7, t, "inside");

  drawings.galaxy = {
    size: [600, 430],
    alt: "Dots 0 to 4 and 295 smaller ones on a spiral that winds into the middle of a circle: each dot is the one before it, turned and drawn in by the same rule.",
    goal: "Drag dot 1: all encodings of equal norm, and no two equal.",
    reward: "<b>Equal norms and one matrix: a rotation.</b> The encodings are the places of a clock hand.",
    start: { size: 0.95, turn: 1.13 },
    view(state) {
      const [size, turn] = caught(state);
      const code = (t) => [size ** t * Math.sin(turn * t), size ** t * Math.cos(turn * t)];
      const place = ([x, y]) => [300 + 165 * x, 212 - 165 * y];
      const dust = [[200, 300, "third"], [100, 200, "second"], [5, 100, "first"]].map(([from, to, kind]) => path(`dust ${kind}`, range(to - from)
        .filter((i) => 165 * size ** (from + i) < 290).map((i) => `M${at(...place(code(from + i)))}h0`).join("")));
      const double = size === 1 && range(11).map((i) => i + 2).find((t) => Math.hypot(code(t)[0], code(t)[1] - 1) < 1e-6);
      return {
        svg: circle("hair", 165, 300, 212) + dust.join("") + [4, 3, 2, 0].map((t) => group(moved(...place(code(t))), numbered(t))).join("") +
          group(moved(...place(code(1))), circle("wanted", 30)) + text(...place([1.2 * code(1)[0], 1.2 * code(1)[1] + 0.16]), "1", "aimed"),
        sentence: size !== 1 ? `The norms differ: that of encoding 100 is ${far(size ** 100)} the norm of encoding 0.`
          : double ? `Equal norms, but encoding ${double} equals encoding 0.`
          : `Equal norms and no equals: a clock hand, ${minus(f(degrees(turn)))}° a position.`,
        reached: size === 1 && !double,
      };
    },
    handles(state) {
      const [size, turn] = caught(state), [x, y] = tip(turn, 165 * size);
      return [{
        label: "Dot 1", text: `${minus(f(degrees(turn)))} degrees, norm ${fixed(size, 3)}`, x: 300 + x, y: 212 + y,
        around: [300, 212], value: state.turn, low: -4, high: 4, step: 0.02, set: (to) => ({ turn: to }),
        up: { value: state.size, low: 0.5, high: 1.2, step: 0.0125, radius: 165, set: (to) => ({ size: to }) },
      }];
    },
  };
}
