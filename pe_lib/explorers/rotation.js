each("rotation", (root, controls, form) => {
  const speeds = range(3).map((j) => 50 ** (-j / 3));
  let x, moved, won = controls.k.value != 3;
  // Turn one hand, and the others go along, by whole positions.
  all(root, ".hand").forEach((svg, j) =>
    crank(svg, () => (x = +controls.k.value), (angle) => {
      x = Math.min(24, Math.max(-24, x + angle / speeds[j]));
      controls.k.value = Math.round(x);
      form.oninput();
    }));
  return (event) => {
    const t = +controls.t.value, k = +controls.k.value;
    moved ||= event?.target == controls.t;
    won ||= moved && k != 3;
    const blocks = speeds.map((w) => {
      const sin = Math.sin(w * k), cos = Math.cos(w * k);
      return [cos, sin, -sin, cos];
    });
    all(root, ".matrix span").forEach((entry, i) => {
      entry.setAttribute("style", `--v:${Math.round(40 * Math.abs(blocks.flat()[i]))}%`);
      entry.classList.toggle("less", blocks.flat()[i] < -0.005);
    });
    const T = `T(${minus(k)})`;
    show(
      root,
      [
        ...speeds.flatMap((w) => [...pose(w * t + w * k, { before: w * t }), `${fixed(w * k)} rad`]),
        ...blocks.flat().map((x) => fixed(x)),
      ],
      (event?.target == controls.t ? `You moved the position, and nothing moved in ${T}. ` : "") +
        `${T} takes position ${t} to ${minus(t + k)}.`,
      won,
    );
  };
});
