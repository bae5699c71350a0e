// The controls that the walk did not reach; of a group of radio buttons one is enough.
() => {
  const groups = new Set(
    [...window.reached].filter((e) => e.type === "radio").map((e) => e.name),
  );
  return window.controls
    .filter((e) => !window.reached.has(e))
    .filter((e) => !(e.type === "radio" && groups.has(e.name)))
    .map((e) => `not reached: ${e.outerHTML.slice(0, 80)}`);
};
