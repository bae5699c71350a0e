// A dial that turns under a finger and by its keys: 2 degrees, ten with Shift, Home.
const turnable = (svg, get, set, text, home) => {
  const tell = () => {
    const now = degrees(wrap(get()));
    mark(svg, { "aria-valuenow": now, "aria-valuetext": text(now) });
  };
  const turn = (angle, held) => { set(angle, held); tell(); };
  const follow = (event) => turn(bearing(svg, event), true);
  mark(svg, { role: "slider", tabindex: 0, "aria-valuemin": -180, "aria-valuemax": 180 });
  svg.dataset.lmSuppressShortcuts = true;
  grip(svg, (event) => {
    svg.focus({ preventScroll: true });
    follow(event);
  }, follow);
  svg.onkeydown = (event) => {
    const step = { ArrowRight: 2, ArrowUp: 2, ArrowLeft: -2, ArrowDown: -2 }[event.key];
    if (event.key == "Home") home();
    else if (step) turn(get() + (step * (event.shiftKey ? 5 : 1) * Math.PI) / 180);
    else return;
    tell();
    event.preventDefault();
  };
  tell();
  return tell;
};
