each("two-hands", (root, controls) => {
  let best = 0;
  return () => {
    const w = +controls.w.value;
    const far = range(99).map((i) => Math.sqrt(Math.max(0, 4 - 2 * Math.cos(i + 1) - 2 * Math.cos(w * (i + 1)))));
    const near = Math.min(...far), low = far.indexOf(near) + 1, heights = far.map((d) => (130 - 40 * d).toFixed(1));
    best = Math.max(best, near);
    show(
      root,
      [
        ...pose(low, { ghost: 0, legs: false }),
        ...pose(w * low, { ghost: 0, legs: false }),
        `${fixed(w)} radian per position`,
        "M" + heights.map((y, i) => `${3 * i + 33} ${y}`).join("L"),
        `translate(${3 * low + 30} ${heights[low - 1]})`,
        `position ${low}`,
        fixed(near),
        fixed(best),
      ],
      `Position ${low} is ` +
        (near < 0.05 ? "almost the same as position 0: both hands are near twelve."
          : near > 0.4 ? "the nearest, and well away from position 0."
          : "close to position 0: both hands are near twelve."),
      near >= 0.58,
    );
  };
});
