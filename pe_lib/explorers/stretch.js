each("stretch", (root, controls, form) => {
  const svg = root.querySelector("svg");
  // The end of the lower line is at 1/s, and takes the factor along: 20 of 296 a doubling.
  grip(svg.querySelector("g"), null, (event) => {
    const { top, height } = svg.getBoundingClientRect();
    controls.s.value = (((event.clientY - top) / height) * 296 - 176) / 20;
    if (controls.rule.value == "none") controls.rule.value = "interpolate";
    form.oninput();
  });
  return () => {
    const rule = controls.rule.value, s = chosen(controls.s), base = chosen(controls.base), L = chosen(controls.L);
    const old = range(64).map((j) => base ** (-j / 64)), turns = old.map((w) => (w * L) / 2 / Math.PI);
    const parts = (fast) => (j) => {
      const keep = Math.min(1, Math.max(0, (turns[j] - 1) / (fast - 1)));
      return keep + (1 - keep) / s;
    };
    const shares = range(64).map({ none: () => 1, interpolate: () => 1 / s, ntk: (j) => s ** (-j / 63), yarn: parts(32), llama3: parts(4) }[rule]);
    const slow = range(64).filter((j) => turns[j] < 1), reach = slow.map((j) => 8 * shares[j]);
    const gap = (speeds) => speeds.reduce((sum, w) => sum + 1 - Math.cos(w), 0);
    const share = gap(old.map((w, j) => w * shares[j])) / gap(old);
    const far = Math.max(0, ...reach), unseen = reach.filter((x) => x > 1 + 1e-9).length;
    const x = (j) => 40 + 4.5 * j, paths = ["", ""], kept = `${fixed(100 * share, 0)} %`;
    const y = (zero, times) => (zero - 20 * Math.log2(times)).toFixed(1);
    reach.forEach((times, i) => (paths[+(times > 1 + 1e-9)] += `M${x(slow[i])} 80V${y(80, times)}`));
    show(
      root,
      [
        `M${x(63.5 - slow.length)} 14V276`,
        ...paths,
        "M" + shares.map((times, j) => `${x(j)} ${y(176, times)}`).join("L"),
        `translate(${x(63)} ${y(176, shares[63])})`,
      ],
      (!slow.length ? "Every hand came round in training."
        : !unseen ? "No hand goes beyond the angles of training."
        : `New angles for ${unseen} of ${slow.length} slow hands, up to ${fixed(far, 1)} times too far.`) +
        ` The neighbour keeps ${kept} of its gap.`,
      slow.length > 0 && !unseen && share >= 0.9,
    );
  };
});
