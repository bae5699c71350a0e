// A walk by the Tab key: note every control and how it looks before the keyboard reaches
// it; say at each step what is wrong there, and at the end what was not reached.
() => {
  const still = document.createElement("style");
  still.textContent =
    "*, *::before, *::after { transition: none !important; " +
    "animation: none !important; scroll-behavior: auto !important; }";
  document.head.append(still);
  const shows = ["outline", "boxShadow", "color", "backgroundColor", "textDecoration", "borderColor"];
  const look = (e) => shows.map((name) => getComputedStyle(e)[name]).join("|");
  const stops = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  const controls = [...document.querySelectorAll(stops)].filter(
    (e) =>
      !e.disabled &&
      e.getClientRects().length &&
      e.checkVisibility({ visibilityProperty: true }),
  );
  const looks = new Map(controls.map((e) => [e, look(e)]));
  const reached = new Set();
  document.activeElement.blur();
  scrollTo(0, 0);
  window.stepped = () => {
    const e = document.activeElement;
    if (!e || e === document.body || e === document.documentElement) return ["end", ""];
    const name = e.outerHTML.slice(0, 80);
    if (reached.has(e)) return [e === [...reached][0] ? "end" : "trapped", name];
    reached.add(e);
    const box = e.getBoundingClientRect();
    if (looks.get(e) === look(e)) return ["focus not visible", name];
    if (box.bottom < 0 || box.top > innerHeight || box.width < 2) return ["focus outside the screen", name];
    return ["", name];
  };
  window.unreached = () => controls.filter((e) => !reached.has(e)).map((e) => `not reached: ${e.outerHTML.slice(0, 80)}`);
  return controls.length;
};
