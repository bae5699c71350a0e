each("right-offsets", (root, controls, form) => {
  // A row of numbers is pressed: the next way to cut, or to count.
  for (const number of all(root, "text")) {
    const ways = [...controls[number.matches(".muted") ? "cut" : "numbers"]];
    number.style.cursor = "pointer";
    number.onclick = () => {
      ways[(ways.findIndex((way) => way.checked) + 1) % ways.length].checked = true;
      form.oninput();
    };
  }
  return () => {
    const n = 16, ranks = chosen(controls.ranks), size = n / ranks, half = size / 2;
    const cut = controls.cut.value, numbers = controls.numbers.value;
    const shard = (order, r) =>
      range(size).map((i) => {
        if (order == "local") return i;
        if (order == "contiguous") return r * size + i;
        return i < half ? r * half + i : (2 * ranks - 2 - r) * half + i;
      });
    const place = [], owner = [];
    for (const r of range(ranks)) {
      shard(cut, r).forEach((t, i) => {
        place[t] = shard(numbers, r)[i];
        owner[t] = r;
      });
    }
    const lines = ["", ""];
    let right = 0;
    for (const t of range(n)) {
      const wrong = (s) => +(place[t] - place[s] != t - s);
      for (let from = 0, to; from <= t; from = to) {
        for (to = from + 1; to <= t && wrong(to) == wrong(from); ) to++;
        lines[wrong(from)] += `M${from} ${t}h${to - from}`;
        if (!wrong(from)) right += to - from;
      }
    }
    const first = shard(cut, 1)[0];
    show(
      root,
      [...lines, ...owner, ...place],
      `${right} of 136 pairs keep their distance. On rank 1 token ${first} has position ${place[first]}.`,
      cut == "zigzag" && numbers == cut,
    );
  };
});
