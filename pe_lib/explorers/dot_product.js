each("dot-product", (root, controls) => () => {
  const d = chosen(controls.d), base = chosen(controls.base);
  const shares = range(101).map((k) => {
    let sum = 0;
    for (let j = 0; j < d / 2; j++) sum += Math.cos(k / base ** ((2 * j) / d));
    return sum / (d / 2);
  });
  const rises = [...shares.keys()].filter((k) => shares[k + 1] > shares[k]), k = rises[0];
  const points = shares.map((share, i) => `${26 + 3 * i} ${(76 - 60 * share).toFixed(1)}`);
  show(
    root,
    ["M" + points.join("L"), `M${points[k]}h0`],
    `${d} numbers, base ${base.toLocaleString("en")}: first rises from offset ` +
      `${k} to ${k + 1}. Rises ${rises.length} times in 100.`,
    k == 43,
  );
});
