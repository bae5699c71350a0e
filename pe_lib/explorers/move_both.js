each("move-both", (root, controls, form) => {
  let moved, won = controls.k.value != 1, start = 0;
  // A word, or both, under a finger: a position is 20 of the row's 340 units.
  const drag = (kind, set) => {
    let from, t, k;
    grip(root.querySelector(kind), (event) => ([from, t, k] = [event.clientX, +controls.t.value, +controls.k.value]), (event) => {
      const target = set(Math.round(((event.clientX - from) / root.querySelector(".row").clientWidth) * 17), t, k);
      form.oninput({ target });
    });
  };
  const put = (t, k) => [controls.t.value, controls.k.value] = [t, k];
  drag(".both", (by, t, k) => put(t + by, k) && controls.t);
  drag(".key", (by, t, k) => put(t, k - by) && controls.k);
  drag(".query", (by, t, k) => put(t + Math.max(-k, Math.min(4 - k, by)), k + by) && controls.k);
  return (event) => {
    const t = +controls.t.value, k = +controls.k.value;
    start = Math.max(0, Math.min(Math.max(start, t - 8), t - k - 1));
    const speeds = [1, 0.01];
    moved ||= event?.target == controls.t;
    won ||= moved && k != 1 && event.target == controls.k;
    const gaps = speeds.map((w) => w * k);
    const score = fixed(Math.cos(gaps[0]) + Math.cos(gaps[1]), 4);
    const angle = (gap) => `gap ${fixed((wrap(gap) * 180) / Math.PI, 1)}°`;
    show(
      root,
      [
        ...speeds.flatMap((w, j) => [...pose(w * t, { before: w * (t - k), legs: false }), angle(gaps[j])]),
        `translate(${30 - 20 * start})`,
        `translate(${20 * (t - k - start)} 18)`,
        `translate(${20 * (t - start)} 94)`,
      ],
      (event?.target == controls.t ? "Both words moved, and the score stayed. " : "") + `Query ${t}, key ${t - k}: the score is ${score}.`,
      won,
    );
  };
});
