// A slider drawn as a dial (_explorer.knob): one radian is one of its unit.
crank.knob = (input, form) => {
  const svg = input.nextSibling, tell = () => form.oninput({ target: input });
  let x;
  crank(svg, () => (x = +input.value), (angle) => {
    input.value = x = Math.max(0, Math.min(input.max, x + angle));
    tell();
    svg.lastChild.setAttribute("transform", rotate(x));
  }, tell);
};
