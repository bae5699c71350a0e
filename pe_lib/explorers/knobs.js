each("knobs", (root, controls, form) => {
  const rounds = [2, 4, 8], dials = all(root, ".hand"), box = root.querySelector(".lamps");
  let turned = [0, 0, 0];
  const draw = () => {
    const n = +controls.n.value, a = turned.map((x) => (x * Math.PI) / 180);
    const looks = range(n - 1).map((i) =>
      highest(range(n).map((s) => rounds.reduce((sum, r, j) => sum + Math.cos((2 * Math.PI * (s - i - 1)) / r + a[j]), 0))));
    const right = looks.filter((at, i) => at == i).length, split = looks.findIndex((at) => at[1] !== undefined);
    box.innerHTML = lamps(looks);
    show(
      root,
      turned.flatMap((x, j) => [rotate(a[j]), `${x}°`.replace("-", "−")]),
      right == n - 1 ? "One setting is right for every query."
        : split >= 0 ? `Query ${split + 1} has a tie between ${looks[split].join(" and ")}.`
        : right ? `${right} of ${n - 1} attend one back, with one setting for all.`
        : turned.some((x) => x) ? "No query attends to the word before."
        : "No query attends to the word before: unturned, each finds itself.",
      right == n - 1,
    );
  };
  const tell = dials.map((svg, j) =>
    turnable(
      svg,
      () => (turned[j] * Math.PI) / 180,
      (angle, held) => {
        // A finger sets steps of five degrees, a key of two, and it meets those between.
        const step = held ? 5 : 1;
        turned[j] = step * Math.round(degrees(wrap(angle)) / step);
        draw();
      },
      (x) => `${x} degrees`,
      () => draw((turned[j] = 0)),
    ));
  form.onreset = () => {
    turned = [0, 0, 0];
    setTimeout(() => form.oninput());
  };
  return () => {
    draw();
    tell.forEach((update) => update());
  };
});
