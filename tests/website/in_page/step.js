// Look at where the keyboard is now; return what is wrong, and where.
() => {
  const e = document.activeElement;
  if (!e || e === document.body || e === document.documentElement) return ["end", ""];
  const name = e.outerHTML.slice(0, 80);
  if (window.reached.has(e))
    return [e === [...window.reached][0] ? "end" : "again", name];
  window.reached.add(e);
  const box = e.getBoundingClientRect();
  if (window.looks.has(e) && window.looks.get(e) === window.lookOf(e))
    return ["focus not visible", name];
  if (box.bottom < 0 || box.top > innerHeight || box.width < 2)
    return ["focus outside the screen", name];
  return ["", name];
};
