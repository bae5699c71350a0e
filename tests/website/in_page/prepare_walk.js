// Note every control and how it looks before the keyboard reaches it; return their number.
() => {
  const still = document.createElement("style");
  still.textContent =
    "*, *::before, *::after { transition: none !important; " +
    "animation: none !important; scroll-behavior: auto !important; }";
  document.head.append(still);
  const shows = ["outline", "boxShadow", "color", "backgroundColor", "textDecoration", "borderColor"];
  window.lookOf = (e) => shows.map((name) => getComputedStyle(e)[name]).join("|");
  const stops = "a[href], button, input, select, textarea, summary, [tabindex]";
  window.controls = [...document.querySelectorAll(stops)].filter(
    (e) =>
      e.tabIndex >= 0 &&
      !e.disabled &&
      !e.closest("[inert]") &&
      e.getClientRects().length &&
      e.checkVisibility({ visibilityProperty: true }),
  );
  window.looks = new Map(window.controls.map((e) => [e, window.lookOf(e)]));
  window.reached = new Set();
  document.activeElement.blur();
  scrollTo(0, 0);
  return window.controls.length;
};
