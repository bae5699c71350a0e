each("look-back", (root, controls, form) => {
  const speeds = range(4).map((j) => 20 ** (-j / 4)), dials = all(root, ".hand");
  let turned = [0, 0, 0, 0], whole = false;
  const scores = (t) =>
    range(16).map((s) => 4 * speeds.reduce((sum, w, j) => sum + Math.cos(w * (s - t) + turned[j]), 0));
  const draw = () => {
    const t = +controls.t.value, weights = softmax(scores(t)), at = highest(scores(t));
    const miss = speeds.map((w, j) => Math.abs(wrap(turned[j] - w)));
    const met = miss.filter((x) => x < 1e-9).length;
    const rows = range(16).map((q) => softmax(scores(q)));
    const right = range(15).filter((q) => highest(scores(q + 1)) == q).length;
    const levels = ["", "", "", "", ""];
    if (whole) rows.forEach((row, q) => row.forEach((x, s) => (levels[Math.round(4 * x)] += `M${s} ${q}h1`)));
    const won = met == 4 && right == 15;
    show(
      root,
      [
        ...speeds.flatMap((w, j) => [
          ...pose(w * (t - 1) + turned[j], { ghost: w * t }),
          miss[j] < 1e-9 ? "✓ on it" : `${degrees(miss[j])}° to go`,
        ]),
        weights.map((x, s) => `M${20 * s + 20} 75v${(-60 * x).toFixed(1)}`).join(""),
        `translate(${20 * t})`,
        ...levels.slice(1),
        whole ? "" : "?",
      ],
      `Position ${t} ` +
        (at[1] !== undefined ? `cannot decide between ${at.length} positions.`
          : at == t ? "attends to itself."
          : at == t - 1 ? "attends one back."
          : `attends to ${at}, not to ${t - 1}.`) +
        ` Weight on ${t - 1}: ${fixed(weights[t - 1])}.` +
        (whole ? ` ${right} of 15 positions attend one back.`
          : met == 4 ? " All four hands lie on it. Does that hold for other positions?" : ""),
      won && whole,
    );
  };
  const tell = dials.map((svg, j) =>
    turnable(
      svg,
      () => turned[j] + speeds[j] * (controls.t.value - 1),
      (angle, held) => {
        const turn = wrap(angle - speeds[j] * (controls.t.value - 1));
        // It catches: within 4 degrees of a finger, within one of a key.
        const near = Math.abs(wrap(turn - speeds[j])) < ((held ? 4 : 1.01) * Math.PI) / 180;
        turned[j] = near ? speeds[j] : turn;
        draw();
      },
      () => `turned by ${degrees(turned[j])} degrees, ${degrees(Math.abs(wrap(turned[j] - speeds[j])))} to go`,
      () => draw((turned[j] = 0)),
    ));
  controls.whole.onclick = () => draw((whole = true));
  form.onreset = () => {
    turned = [0, 0, 0, 0];
    whole = false;
    setTimeout(() => form.oninput());
  };
  return () => {
    draw();
    tell.forEach((update) => update());
  };
});
