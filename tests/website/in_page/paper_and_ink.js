// The colour of the page, and that of the lines of its first figure, as [red, green, blue].
[document.body, document.querySelector("svg[role=img]")].map((e) => {
  const style = getComputedStyle(e);
  const colour = e === document.body ? style.backgroundColor : style.color;
  return colour
    .match(/[\d.]+/g)
    .slice(0, 3)
    .map(Number);
});
