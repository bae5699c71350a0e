each("dot-product", (root, controls, form) => {
  const share = (k, d, base) => range(d / 2).reduce((sum, j) => sum + Math.cos(k / base ** ((2 * j) / d)), 0) / (d / 2);
  const firstRise = (d, base, k = 0) => (share(k + 1, d, base) > share(k, d, base) ? k : firstRise(d, base, k + 1));
  const [widths, bases] = [controls.d, controls.base].map((input) => input.dataset.values.split(" "));
  const svg = root.querySelector("svg");
  // Pull the dot: of all settings the one whose dot is nearest, and of these the most alike.
  let dots, from;
  grip(svg.querySelector("g"), () => {
    dots ??= widths.flatMap((d, i) => bases.map((base, j) => [i, j, firstRise(d, base)]));
    from = [controls.d.value, controls.base.value];
  }, (event) => {
    const { left, width } = svg.getBoundingClientRect(), at = (((event.clientX - left) / width) * 340 - 26) / 3;
    const away = ([i, j, k]) => Math.abs(k - at) + (Math.abs(i - from[0]) + Math.abs(j - from[1])) / 100;
    [controls.d.value, controls.base.value] = dots.reduce((a, b) => (away(b) < away(a) ? b : a));
    form.oninput();
  });
  return () => {
    const d = chosen(controls.d), base = chosen(controls.base), shares = range(101).map((k) => share(k, d, base));
    const rises = [...shares.keys()].filter((k) => shares[k + 1] > shares[k]), k = rises[0];
    const points = shares.map((share, i) => `${26 + 3 * i} ${(76 - 60 * share).toFixed(1)}`);
    show(
      root,
      ["M" + points.join("L"), `translate(${points[k]})`],
      `${d} numbers, base ${base.toLocaleString("en")}: first rises from offset ` +
        `${k} to ${k + 1}. Rises ${rises.length} times in 100.`,
      k == 43,
    );
  };
});
