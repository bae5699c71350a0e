each("patches", (root, controls, form) => {
  const svg = root.querySelector("svg"), steps = range(7).map((i) => i - 3);
  hold(svg);
  svg.onpointerdown = svg.onpointermove = (event) => {
    if (!event.buttons) return;
    const box = svg.getBoundingClientRect();
    const cell = (x) => Math.max(-3, Math.min(3, Math.floor(((x / box.width) * 300 - 10) / 40) - 3));
    controls.down.value = cell(event.clientY - box.top);
    controls.right.value = cell(event.clientX - box.left);
    form.oninput();
  };
  return () => {
    const down = +controls.down.value, right = +controls.right.value;
    const ways = [[1, 0], [0, 1], ...(controls.diagonals.checked ? [[1, 1], [1, -1]] : [])];
    const hands = [2, 1, 0.5].flatMap((s) => ways.map(([y, x]) => [s * y, s * x]));
    const scores = steps.flatMap((y) => steps.map((x) =>
      hands.reduce((sum, [a, b]) => sum + 2 * Math.cos(a * y + b * x) * Math.cos(a * down + b * right), 0)));
    const weights = softmax(scores.map((x) => 3 * x)), best = highest(scores);
    const asked = [...new Set([24 + 7 * down + right, 24 - 7 * down - right])];
    const levels = weights.map((w) => Math.min(8, Math.round(16 * w)));
    const runs = (level) => {
      let path = "";
      for (let i = 0, to; i < 49; i = to) {
        for (to = i + 1; to % 7 && levels[to] == levels[i]; ) to++;
        if (levels[i] == level) path += `M${i % 7} ${(i - (i % 7)) / 7}h${to - i}`;
      }
      return path;
    };
    const words = [[down, "up", "down"], [right, "left", "right"]].flatMap(([k, back, on]) =>
      (k ? [`${Math.abs(k)} ${k < 0 ? back : on}`] : []));
    const more = best.length - asked.length;
    show(
      root,
      [
        ...range(8).map((i) => runs(i + 1)),
        `translate(${40 * right} ${40 * down})`,
        `translate(${-40 * right} ${-40 * down})`,
      ],
      `Wanted: ${words[0] ? [...words, "and the opposite"].join(", ") : "the patch itself"}. ` +
        `Highest: ${more > 0 ? `${best.length} patches, ${more} too many` : "no other"}. ` +
        `Weight on those wanted: ${fixed(asked.reduce((sum, i) => sum + weights[i], 0))}.`,
      down && right && more == 0 && best.every((i) => asked.includes(i)),
    );
  };
});
