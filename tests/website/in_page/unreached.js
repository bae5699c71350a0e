// The controls that the walk did not reach.
() =>
  window.controls
    .filter((e) => !window.reached.has(e))
    .map((e) => `not reached: ${e.outerHTML.slice(0, 80)}`);
