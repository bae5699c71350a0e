// Where the page's first drawing begins and ends, in pixels from its top; null: there is none.
() => {
  const picture = document.querySelector("main article svg.figure");
  if (!picture) return null;
  const { top, bottom } = picture.getBoundingClientRect();
  return [top + scrollY, bottom + scrollY];
};
