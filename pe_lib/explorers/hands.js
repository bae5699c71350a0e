each("hands", (root, controls, form) => {
  const words = all(root, ".words span"), n = words.length, back = +controls.back.value;
  const speeds = range(6).map((j) => 50 ** (-j / 6)), input = controls.t;
  const table = root.querySelector(".table");
  let frame = 0, now = +input.value;
  // Between two words while it glides; the words and the sentence stay whole.
  const paint = (x, t) => {
    input.value = t;
    input.previousSibling.textContent = t;
    const scores = range(n).map((s) => 4 * speeds.reduce((sum, w) => sum + Math.cos(w * (x - back - s)), 0));
    words.forEach((word, i) => (word.className = i == t ? "at" : i == t - back ? "aim" : ""));
    show(
      root,
      [
        ...speeds.flatMap((w) => pose(w * x, { ghost: w * (x - back) })),
        softmax(scores).map((p, s) => `M${20 * s + 10} 175v${(-48 * p).toFixed(1)}`).join(""),
        `translate(${20 * x})`,
        `translate(${20 * (x - back)})`,
      ],
      `Word ${t}, ${words[t].textContent}, ` +
        (t < back ? "has none to look back at." : `looks at word ${t - back}, ${words[t - back].textContent}.`),
    );
    now = x;
  };
  const quiet = matchMedia("(prefers-reduced-motion: reduce)");
  const glide = (to, each_word) => {
    cancelAnimationFrame(frame);
    const from = now, start = performance.now(), whole = Math.min(each_word * Math.abs(to - from), 4500);
    const step = (time) => {
      const part = Math.min(1, Math.max(0, time - start) / (whole || 1)), x = from + (to - from) * part;
      paint(part < 1 ? x : to, each_word > 200 ? Math.round(x) : to);
      if (part < 1) frame = requestAnimationFrame(step);
    };
    if (quiet.matches) paint(to, to);
    else frame = requestAnimationFrame(step);
  };
  const go = (t) => {
    input.value = t;
    form.oninput();
  };
  // The table is a slider too: a finger or a mouse says which column.
  table.onpointerdown = table.onpointermove = (event) => {
    if (!event.buttons) return;
    const box = table.getBoundingClientRect();
    go(Math.floor(((event.clientX - box.left) / box.width) * n));
  };
  // And so is each hand: turn one, and all go along, each at its own speed.
  let turned;
  all(root, ".hand").forEach((svg, j) =>
    crank(svg, () => (turned = false), (angle) => {
      cancelAnimationFrame(frame);
      turned = true;
      const x = Math.min(n - 1, Math.max(0, now + angle / speeds[j]));
      paint(x, Math.round(x));
    }, () => turned && go(Math.round(now))));
  words.forEach((word, i) => (word.onclick = () => go(i)));
  if (controls.glide.value == 1 && !quiet.matches) {
    const end = now, seen = new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return;
      seen.disconnect();
      if (now != end) return;
      now = Math.max(0, end - 8);
      glide(end, 500);
    }, { threshold: 0.5 });
    seen.observe(table);
  }
  return () => glide(+input.value, 60);
});
