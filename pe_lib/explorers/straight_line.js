each("straight-line", (root, controls, form) => {
  const names = ["New", "York", "beats", "old", "York"];
  let tries = 0;
  form.onchange = () => {
    tries++;
    form.oninput();
  };
  return () => {
    const slope = +controls.slope.value, height = +controls.height.value;
    const scores = range(5).map((s) => slope * s + height);
    const tops = scores.map((x) => (110 - 10 * x).toFixed(1)), at = highest(scores);
    show(
      root,
      [
        tops.map((y, s) => `M${68 * s + 34} 110V${y}`).join(""),
        `M34 ${tops[0]}L306 ${tops[4]}`,
        `translate(238 ${tops[3]})`,
        scores.join(", ").replaceAll("-", "−"),
        tries,
      ],
      at[1] === undefined ? `${names[at]}, key ${at}, is the tallest: an end.` : "A flat line: all five are equally tall.",
      tries > 5,
    );
  };
});
