each("move-both", (root, controls) => {
  let moved, won = controls.k.value != 1;
  return (event) => {
    const t = +controls.t.value, k = +controls.k.value;
    const hands = [[Math.PI / 4, -Math.PI / 4, 1], [0, Math.PI / 2, 0.01]];
    moved ||= event?.target == controls.t;
    won ||= moved && k != 1 && event.target == controls.k;
    const gaps = hands.map(([u, v, w]) => u - v + w * k);
    const score = fixed(2 * Math.cos(gaps[0]) + Math.cos(gaps[1]), 4);
    const angle = (gap) => `gap ${fixed((wrap(gap) * 180) / Math.PI, 1)}°`;
    show(
      root,
      [
        ...hands.flatMap(([u, v, w], j) => [...pose(u + w * t, { before: v + w * (t - k), legs: false }), angle(gaps[j])]),
        t,
        t - k,
        score,
      ],
      (event?.target == controls.t ? "Both words moved, and the score stayed. " : "") + `Query ${t}, key ${t - k}: the score is ${score}.`,
      won,
    );
  };
});
