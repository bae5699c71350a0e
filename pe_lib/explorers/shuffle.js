each("shuffle", (root, controls, form) => {
  const cards = all(root, ".word"), names = ["New", "York", "beats", "old", "York"];
  const vectors = [[1, 0], [1, 1], [0, -1], [-1, 1], [1, 1]];
  let order = range(5), held = -1, tried = new Set(["" + names]);
  // The new vector of each word, with the words in this order.
  const attend = (order) => {
    const X = vectors.map(([x, y], w) => [x + (controls.codes.checked ? 0.1 * order.indexOf(w) : 0), y]);
    return X.map(([a, b]) => {
      const weights = softmax(X.map(([c, d]) => a * c + b * d));
      return [0, 1].map((i) => weights.reduce((sum, p, w) => sum + p * X[w][i], 0));
    });
  };
  const draw = () => {
    const now = attend(order), then = attend(range(5));
    // The two Yorks are one word: together they have the same vectors, or not.
    const of = (all, w) => all.filter((_, v) => names[v] == names[w]).map((x) => x.map((y) => fixed(y, 9)).join()).toSorted().join();
    const changed = range(5).filter((w) => of(now, w) != of(then, w));
    const said = order.map((w) => names[w]).join(), same = said == "" + names;
    tried.add(said);
    cards.forEach((card, w) => {
      const seat = order.indexOf(w);
      card.style = `--at: ${seat};`;
      card.classList.toggle("changed", changed.includes(w));
      card.setAttribute("aria-pressed", w == held);
      card.setAttribute("aria-label", `${names[w]} at position ${seat}: ${now[w].map((x) => fixed(x)).join(", ")}`);
    });
    show(
      root,
      [...now.flat().map((x) => fixed(x)), `${tried.size} of 60`, changed.length],
      same ? (controls.codes.checked ? "With positions there are new numbers. Compare with these: swap two words."
          : "The sentence to compare with. Swap two words.")
        : changed[0] !== undefined ? "With the positions added, the order shows."
        : "A different order, and not one number changed: they moved along with their words.",
      changed[0] !== undefined,
    );
  };
  const swap = (v, w) => {
    order = order.map((x) => (x == v ? w : x == w ? v : x));
    held = -1;
    draw();
  };
  const tap = (w) => {
    if (held >= 0 && held != w) return swap(held, w);
    held = held == w ? -1 : w;
    draw();
  };
  cards.forEach((card, w) => {
    let x = 0;
    card.setAttribute("role", "button");
    card.tabIndex = 0;
    card.dataset.lmSuppressShortcuts = true;
    card.onpointerdown = (event) => {
      x = event.clientX;
      card.setPointerCapture(event.pointerId);
    };
    card.onpointermove = (event) => card.hasPointerCapture(event.pointerId) && card.style.setProperty("--dx", `${event.clientX - x}px`);
    card.onpointercancel = draw;
    card.onpointerup = (event) => {
      const far = Math.round((event.clientX - x) / (card.offsetWidth + 4)), seat = order.indexOf(w) + far;
      if (Math.abs(event.clientX - x) < 8) tap(w);
      else if (far && order[seat] !== undefined) swap(w, order[seat]);
      else draw();
    };
    card.onkeydown = (event) => {
      if (event.key != "Enter" && event.key != " ") return;
      event.preventDefault();
      tap(w);
    };
  });
  form.onreset = () => {
    [order, held, tried] = [range(5), -1, new Set(["" + names])];
    setTimeout(draw);
  };
  draw();
  return draw;
});
