each("dial", (root, controls, form) => {
  const { k: given, scales, text: own, words, weights } = root.querySelector(".model").dataset;
  const bytes = Int8Array.from(atob(weights.replaceAll("_", "/")), (x) => x.charCodeAt()), names = words.split(" ");
  const chips = all(root, ".words span");
  let at = 0, text, match, set;
  const [E, U, W0, V0, W1, V1] = scales.split(" ").map((scale, i) =>
    range(i < 2 ? 128 : 32).map(() => range(32).map(() => scale * bytes[at++])));
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const times = (A, B) => {
    const cols = B[0].map((_, j) => B.map((row) => row[j]));
    return A.map((row) => cols.map((col) => dot(row, col)));
  };
  const pairs = (A, W, B) => times(A, W).map((row) => B.map((other) => dot(row, other)));
  const plus = (A, B) => A.map((row, t) => row.map((x, i) => x + B[t][i]));
  const mask = (A) => A.map((row, t) => [...softmax(row.slice(0, t + 1)), ...range(31 - t).fill(0)]);
  const ws = range(16).map((j) => 10000 ** (-j / 16));
  const P = range(32).map((t) => ws.flatMap((w) => [Math.sin(w * t), Math.cos(w * t)]));
  const codes = pairs(P, W0, P);
  const read = (k) => {
    let x = plus(text.map((word) => E[word]), P), scores = pairs(x, W0, x);
    if (k !== undefined)
      scores = scores.map((row, t) => row.map((score, s) =>
        score - codes[t][s] + 30 * ws.reduce((sum, w) => sum + Math.cos(w * (t - s - k)), 0)));
    const one = mask(scores);
    x = plus(x, times(one, times(x, V0)));
    const two = mask(pairs(x, W1, x));
    x = plus(x, times(two, times(x, V1)));
    return [one, two, (t) => softmax(U.map((row) => dot(row, x[t])))];
  };
  const name = (s) => names[text[s]];
  const top = (row) => row.indexOf(Math.max(...row));
  const take = (ids, from, next, size) => {
    text = ids;
    match = ids.map((_, t) => (t >= next && t < next + size ? t - next + from : -1));
  };
  const reset = () => {
    take(own.split(" ").map(Number), 6, 22, 7);
    set = given != "";
  };
  const draw = (e) => {
    if (e?.target?.name == "k") set = true;
    const k = set ? +controls.k.value : undefined, t = +controls.t.value, after = k ?? 1;
    const [one, two, odds] = read(k), seen = top(two[t]), mine = odds(t), named = top(mine);
    const rows = range(32).filter((q) => match[q] >= 0);
    const hits = rows.filter((q) => top(odds(q)) == text[match[q] + after]).length;
    const off = text.indexOf(named) - match[t];
    chips.forEach((chip, s) => {
      chip.textContent = name(s);
      chip.className = s == t ? "at" : s == seen ? "aim" : "";
    });
    const bars = (row) => row.map((x, s) => `M${10 * s + 10} 60V${(60 - 44 * x).toFixed(1)}`).join("");
    show(
      root,
      [`second layer: ${name(t)} looks at ${name(seen)}`, bars(two[t]), `first layer: brought ${name(top(one[seen]))} to ${name(seen)}`, bars(one[seen]), rotate(+controls.k.value)],
      `${set ? `With T(${k})` : "As trained"}: after ${name(t)} the model names ${names[named]}` +
        (match[t] < 0 ? `. ${name(t)} has not stood here before.`
          : !off ? ", the match itself."
          : off > 0 ? `, ${off} after the match.`
          : ", which does not stand after the match.") +
        ` It is ${Math.round(100 * mine[named])} % sure. ${hits} of ${rows.length} answers are ${after} after the match.`,
      match[t] >= 0 && named == text[match[t] + 3],
    );
  };
  reset();
  crank.knob(controls.k, form);
  chips.forEach((chip, s) => (chip.onclick = () => form.oninput((controls.t.value = s))));
  controls.text.onclick = () => {
    const pool = range(128).map((word) => [Math.random(), word]).toSorted((a, b) => a[0] - b[0]).map(([, word]) => word);
    const any = (n) => Math.floor(n * Math.random()), size = 5 + any(4), from = any(8);
    const next = from + size + 2 + any(30 - from - 2 * size);
    take(range(32).map((t) => pool[t >= next && t < next + size ? t - next + from : t]), from, next, size);
    controls.t.value = next + 1;
    form.oninput();
  };
  form.onreset = () => {
    reset();
    setTimeout(() => form.oninput());
  };
  return draw;
});
