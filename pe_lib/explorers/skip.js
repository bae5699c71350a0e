each("skip", (root, controls, form) => {
  const stored = root.querySelector(".model").dataset.stored.split("|").map((row) =>
    row.split(",").map((entry) => [entry.slice(0, entry.lastIndexOf(" ")), +entry.slice(entry.lastIndexOf(" ") + 1)]));
  crank.knob(controls.back, form);
  form.onreset = () => setTimeout(() => form.oninput());
  return () => {
    const set = +controls.heads.value, told = stored[9 * set + 4 * controls.back.value];
    const text = told.map(([word]) => word).join(" ");
    show(
      root,
      [text, told.map(([, chance], i) => `M${23 * i + 16} 60V${(60 - 0.44 * chance).toFixed(1)}`).join(""), rotate(+controls.back.value)],
      `${set ? 20 : 4} heads rotated by ${+controls.back.value}: ${text}`,
      told[0][0] == "king",
    );
  };
});
