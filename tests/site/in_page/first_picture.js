// Where the page's first picture begins and ends, in pixels from its top; null: it has none.
() => {
  const picture = document.querySelector("main article svg.figure, main article figure");
  if (!picture) return null;
  const { top, bottom } = picture.getBoundingClientRect();
  return [top + scrollY, bottom + scrollY];
};
