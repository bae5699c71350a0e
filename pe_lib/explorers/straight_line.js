each("straight-line", (root, controls, form) => {
  const names = ["New", "York", "beats", "old", "York"];
  const svg = root.querySelector("svg"), ring = svg.querySelector("g"), tried = new Set();
  form.onchange = () => {
    tried.add(`${controls.slope.value} ${controls.height.value}`);
    form.oninput();
  };
  // Pull the score of old, and the others follow: a step of the slope is 15 of 240.
  let from, y;
  grip(ring, (event) => [from, y] = [+controls.slope.value, event.clientY], (event) => {
    controls.slope.value = from + ((y - event.clientY) / svg.clientHeight) * 8;
    form.oninput();
  }, () => controls.slope.value == from || form.onchange());
  return () => {
    const slope = +controls.slope.value, height = +controls.height.value;
    const scores = range(5).map((s) => slope * s + height);
    const tops = scores.map((x) => (110 - 10 * x).toFixed(1)), at = highest(scores);
    show(
      root,
      [
        tops.map((y, s) => `M${68 * s + 34} 110V${y}`).join(""),
        `M34 ${tops[0]}L306 ${tops[4]}`,
        tops.map((y, s) => `M${68 * s + 34} ${y}h0`).join(""),
        `translate(238 ${tops[3]})`,
        scores.join(", ").replaceAll("-", "−"),
        tried.size,
      ],
      at[1] === undefined ? `The highest score is ${names[at]}’s, key ${at}: an end.` : "A flat line: all five scores are equal.",
      tried.size > 5,
    );
  };
});
