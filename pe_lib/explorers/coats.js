each("coats", (root, controls, form) => {
  const first = [[0, 0.8], [0.3, 0.2], [0.9, 0.4], [0.5, -0.6], [-0.7, -0.3]];
  const plane = root.querySelector(".plane"), box = root.querySelector(".lamps");
  let P = first;
  // The matrix [a b; c d] that takes each row nearest to the next, in least squares.
  const fit = () => {
    let xx = 0, xy = 0, yy = 0;
    const m = [[0, 0], [0, 0]];
    for (let t = 0; t < 4; t++) {
      const [x, y] = P[t];
      [xx, xy, yy] = [xx + x * x, xy + x * y, yy + y * y];
      for (const i of [0, 1]) m[i] = [m[i][0] + x * P[t + 1][i], m[i][1] + y * P[t + 1][i]];
    }
    const det = xx * yy - xy * xy;
    if (det < 1e-9) return () => [0, 0];
    const rows = m.map(([u, v]) => [(u * yy - v * xy) / det, (v * xx - u * xy) / det]);
    return ([x, y]) => rows.map(([a, b]) => a * x + b * y);
  };
  const place = ([x, y]) => `${(150 + 110 * x).toFixed(1)} ${(150 - 110 * y).toFixed(1)}`;
  const ring = ([x, y], r) => {
    const [c, d] = [r, 2 * r].map((z) => z.toFixed(1)), arc = `a${c} ${c} 0 1 0`;
    return `M${(150 + 110 * x - r).toFixed(1)} ${(150 - 110 * y).toFixed(1)}${arc} ${d} 0${arc} -${d} 0`;
  };
  const draw = () => {
    const n = +controls.n.value, on = fit(), text = [...P];
    let error = 0, size = 0;
    P.forEach(([x, y], t) => {
      const [u, v] = t ? on(P[t - 1]) : [x, y];
      error += ((u - x) ** 2 + (v - y) ** 2) / 4;
      size += (x * x + y * y) / 5;
    });
    while (text.length < n) text.push(on(text.at(-1)));
    const miss = Math.sqrt(error / (size || 1)), fits = size > 1e-9 && miss <= 0.05;
    const norms = text.map((p) => Math.hypot(...p)), top = Math.max(...norms);
    const spread = top > 1e-9 ? 1 - Math.min(...norms) / top : 1, loud = spread <= 0.1;
    const apart = P.every(([x, y], t) => P.every(([u, v], s) => s == t || Math.hypot(u - x, v - y) > 0.22));
    box.innerHTML = lamp(`equal norm: smallest ${Math.round(100 * spread)} % below largest`, loud ? "yes" : "no") + lamp(`one matrix: misses by ${Math.round(100 * miss)} % of the size`, fits ? "yes" : "no");
    show(
      root,
      [
        top < 1.3 ? ring([0, 0], 110 * top) : "",
        "M" + P.map(place).join("L"),
        text.slice(5).map((p) => `M${place(p)}h0`).join(""),
        P.slice(0, 4).map((p) => ring(on(p), 17)).join(""),
        ...P.map((p) => `translate(${place(p)})`),
      ],
      loud
        ? fits
          ? apart ? `Equal norm and one matrix, for ${n} positions.` : "Equal norm and one matrix, but two codes are doubles, or nearly."
          : "Their norms are equal, but no one matrix takes each to the next."
        : fits ? "One matrix takes each to the next, but their norms differ."
        : "Their norms differ, and no one matrix takes each to the next.",
      loud && fits && apart,
    );
    points.forEach((point, t) =>
      point.setAttribute("aria-label", `code ${t} at ${P[t].map((x) => fixed(x)).join(", ")}; the arrow keys move it`));
  };
  const points = all(root, ".point");
  const put = (t, x, y) => {
    const inside = (z) => Math.max(-1.2, Math.min(1.2, z));
    P = P.map((p, i) => (i == t ? [inside(x), inside(y)] : p));
    draw();
  };
  plane.setAttribute("role", "group");
  points.forEach((point, t) => {
    mark(point, { role: "button", tabindex: 0 });
    point.dataset.lmSuppressShortcuts = true;
    grip(point, () => point.focus({ preventScroll: true }), (event) => {
      const r = plane.getBoundingClientRect(), scale = 300 / r.width / 110;
      put(t, (event.clientX - r.left - r.width / 2) * scale, (r.top + r.height / 2 - event.clientY) * scale);
    });
    point.onkeydown = (event) => {
      const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (event.key == "Home") put(t, ...first[t]);
      else if (step) put(t, ...step.map((s, i) => P[t][i] + s * (event.shiftKey ? 0.1 : 0.02)));
      else return;
      event.preventDefault();
    };
  });
  form.onreset = () => {
    P = first;
    setTimeout(() => form.oninput());
  };
  draw();
  return draw;
});
