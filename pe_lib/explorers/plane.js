// Encodings of two numbers: one matrix and equal norms leave them equal steps on a circle.
{
  // The matrix [a b; c d] that takes each encoding nearest to the next, in least squares.
  const fit = (codes) => {
    const pairs = codes.slice(0, -1).map((p, t) => [p, codes[t + 1]]), total = (i, j) => sum(pairs.map(([p]) => p[i] * p[j]));
    const xx = total(0, 0), xy = total(0, 1), yy = total(1, 1), det = xx * yy - xy * xy;
    if (det < 1e-9) return () => [0, 0];
    const rows = [0, 1].map((i) => {
      const [u, v] = [0, 1].map((j) => sum(pairs.map(([p, next]) => p[j] * next[i])));
      return [(u * yy - v * xy) / det, (v * xx - u * xy) / det];
    });
    return (p) => rows.map((row) => dot(row, p));
  };
  const SCALE = 170, place = ([x, y]) => [300 + SCALE * x, 225 - SCALE * y];

  drawings.plane = {
    size: [600, 590],
    alt: "The plane with the encodings of five positions as numbered dots, a line from each to the next, a dotted ring where the matrix that fits best puts each next one, and a circle through the encoding of largest norm. Below is a line with the number of positions.",
    goal: "Drag the five encodings, without letting them meet, until their norms are equal and one matrix takes each to the next. What shape do you get?",
    reward: "<b>You have built a clock.</b> Near a circle, in even steps. Add positions: the more there are, the rounder it must be.",
    start: { right: [0, 0.3, 0.9, 0.5, -0.7], up: [0.8, 0.2, 0.4, -0.6, -0.3], positions: 5 },
    view({ right, up, positions }) {
      const codes = right.map((x, t) => [x, up[t]]), next = fit(codes), all = [...codes];
      while (all.length < positions) all.push(next(all.at(-1)));
      const size = sum(codes.map((p) => dot(p, p))) / 5;
      const error = sum(codes.slice(1).map((p, t) => Math.hypot(next(codes[t])[0] - p[0], next(codes[t])[1] - p[1]) ** 2)) / 4;
      const miss = Math.sqrt(error / (size || 1)), norms = all.map((p) => Math.hypot(...p)), top = Math.max(...norms);
      const spread = top > 1e-9 ? 1 - Math.min(...norms) / top : 1, equal = spread <= 0.1, fits = size > 1e-9 && miss <= 0.05;
      const apart = codes.every((p, t) => codes.every((q, s) => s === t || Math.hypot(p[0] - q[0], p[1] - q[1]) > 0.22));
      return {
        svg: path("hair", "M300 15V435M90 225H510") + (top < 1.3 ? circle("hair", SCALE * top, ...place([0, 0])) : "") + path("edge", line(codes.map(place))) +
          all.slice(5).filter((p) => Math.hypot(...p) < 3).map((p) => circle("score", 5, ...place(p))).join("") +
          codes.slice(0, -1).map((p) => circle("wanted", 28, ...place(next(p)))).join("") +
          codes.map((p, t) => text(place(p)[0] + 34, place(p)[1] - 16, t)).join("") +
          text(60, 478, "positions", "label") + path("edge", "M60 520H540") + [5, 10, 20, 30, 40].map((n) => path("edge", `M${f(60 + (480 / 35) * (n - 5))} 515v10`) + text(60 + (480 / 35) * (n - 5), 566, n, "count")).join(""),
        sentence: `The smallest norm is ${fixed(100 * spread, 0)} % below the largest, and the matrix misses by ${fixed(100 * miss, 0)} % of the size` +
          (equal && fits && !apart ? "; but two encodings are equal, or nearly." : "."),
        reached: equal && fits && apart,
      };
    },
    handles: ({ right, up, positions }) => [
      ...right.map((x, t) => {
        const [left, top] = place([x, up[t]]);
        return {
          label: `Encoding ${t}`, text: `${fixed(x)}, ${fixed(up[t])}`, x: left, y: top, value: x, low: -1.2, high: 1.2, step: 0.02, along: [SCALE, 0],
          set: (to) => ({ right: right.map((old, i) => (i === t ? to : old)) }),
          up: { value: up[t], low: -1.2, high: 1.2, step: 0.02, along: [0, -SCALE], set: (to) => ({ up: up.map((old, i) => (i === t ? to : old)) }) },
        };
      }),
      {
        label: "Positions", text: `${positions} positions`, x: 60 + (480 / 35) * (positions - 5), y: 520, value: positions, low: 5, high: 40, step: 1, along: [480 / 35, 0],
        set: (n) => ({ positions: Math.round(n) }),
      },
    ],
  };
}
