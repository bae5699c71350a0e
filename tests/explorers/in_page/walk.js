// What a drawing shows with each handle at the ends and in the middle, held and let go.
(drawing, name, given) => {
  const { size, view, handles } = drawing.drawings[name], start = drawing.full(name, given), seen = [];
  const add = (state, moved) => {
    const { svg, sentence: said, reached } = view(state);
    seen.push({ size, moved, svg, said, reached, handles: handles(state) });
  };
  add(start, "");
  handles(start).forEach((handle, i) => {
    if (handle.hidden) return;
    if (handle.press) return add({ ...start, ...handle.press() }, handle.label);
    for (const axis of [handle, handle.up].filter(Boolean)) {
      for (const value of [axis.low, 0.63 * axis.low + 0.37 * axis.high, axis.high]) {
        const free = { ...start, ...axis.set(value) };
        add({ ...free, held: i }, handle.label);
        add({ ...free, ...handle.rest?.(free, start) }, handle.label);
      }
    }
  });
  return JSON.stringify(seen);
}
