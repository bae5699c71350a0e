// What is wrong with a drawing in states that a reader may reach: from each of them, with
// each handle at its ends and in the middle, held and let go; then all are put anywhere.
(drawing, name, given) => {
  const { size, view, handles } = drawing.drawings[name];
  let state = drawing.full(name, given), seed = 1;
  const many = handles(state).length, wrong = [], labels = new Set(), moving = new Set(["Shuffle"]);
  const chance = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const within = (low, x, high) => x >= low - 1e-9 && x <= high + 1e-9;
  const inside = (x, y) => within(-20, x, size[0] + 20) && within(-20, y, size[1] + 20);
  const says = ({ value, hidden, low, high, text, x, y }) =>
    value === undefined || hidden || (text && within(low, value, high) && inside(x, y));
  const look = (now, moved, before) => {
    const { svg, sentence } = view(now), all = handles(now), odd = /NaN|undefined|Infinity|null/;
    labels.add(moved);
    if (svg !== before) moving.add(moved);
    if (odd.test(svg + sentence) || !/^.*\w\W*[.?]$/.test(sentence)) wrong.push(sentence);
    if (all.length !== many) wrong.push([moved, all.length]);
    wrong.push(...all.filter((handle) => !says(handle)));
  };
  const put = (axis, part, rest = axis.rest) => {
    const free = { ...state, ...axis.set(axis.low + part * (axis.high - axis.low)) };
    return { ...free, ...rest?.(free, state) };
  };
  for (let round = 0; round < 6; round++) {
    const { svg } = view(state);
    for (const [i, handle] of handles(state).entries()) {
      if (handle.hidden) continue;
      if (handle.press) look({ ...state, ...handle.press() }, handle.label, svg);
      for (const axis of handle.press ? [] : [handle, handle.up].filter(Boolean)) {
        for (const part of [0, 0.37, 1]) {
          const free = put(axis, part, null), rest = put(axis, part, handle.rest);
          const way = Object.entries(rest).map(([x, to]) => [x, drawing.between(free[x], to, 0.37)]);
          for (const now of [{ ...free, held: i }, Object.fromEntries(way), rest]) look(now, handle.label, svg);
        }
      }
    }
    for (let i = 0; i < many; i++) {
      const handle = handles(state)[i];
      if (!handle.press) state = put(handle, chance());
      else if (chance() < 0.5) state = { ...state, ...handle.press() };
      if (handle.up) state = put(handles(state)[i].up, chance());
    }
  }
  return JSON.stringify([...wrong, ...[...labels].filter((label) => !moving.has(label))]);
}
