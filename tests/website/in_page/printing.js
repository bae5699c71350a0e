// Of what is `unwanted` on paper what is shown; and whether the title is.
(unwanted) => {
  const shown = (e) =>
    e.checkVisibility({ visibilityProperty: true }) &&
    e.getBoundingClientRect().height > 1 &&
    e.getBoundingClientRect().bottom + scrollY > 0;
  const faults = [...document.querySelectorAll(unwanted)]
    .filter(shown)
    .map((e) => `printed: ${e.outerHTML.slice(0, 80)}`);
  if (![...document.querySelectorAll("h1")].some(shown))
    faults.push("h1 is not printed");
  return faults;
};
