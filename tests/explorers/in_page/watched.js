// Where a finger takes an element that is not too small, and that has the keyboard's ring
// before, if it is a part of the picture. `let_go` says whether its picture
// changed on a move, or with what is heard when it was pressed; whether it came no farther
// from the finger than it was, and shows no ring; whether others of its kind stayed, the page
// left the finger to it, and it is as it was, as soon as it is started again.
(element, least) => {
  const root = element.closest(".pe-explorer"), own = root.querySelector(".picture");
  const kind = [...document.querySelectorAll(`[data-drawing="${root.dataset.drawing}"] .picture`)];
  const others = () => kind.map((one) => (one === own ? "" : one.innerHTML)).join();
  const heard = () => element.ariaChecked ?? element.ariaPressed;
  const before = own.innerHTML, beside = others(), said = heard();
  const middle = () => {
    const { x, y, width, height } = (element.querySelector(".sign") ?? element.querySelector(".hit") ?? element).getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  };
  let moved = false, lost = false, astray = false, start;
  const look = () => (moved ||= own.innerHTML !== before);
  const follow = ({ clientX, clientY }) => {
    const away = ([x, y]) => Math.hypot(clientX - x, clientY - y);
    look();
    astray ||= away(middle()) > away(start) + 1;
  };
  root.addEventListener("pointermove", follow);
  root.addEventListener("pointercancel", () => (lost = true));
  element.let_go = () => {
    root.removeEventListener("pointermove", follow);
    if (said) moved = look() && heard() !== said;
    const alone = others() === beside && !element.matches(":focus-visible");
    root.querySelector("button:last-child").click();
    return moved && !lost && !astray && alone && own.innerHTML === before;
  };
  element.scrollIntoViewIfNeeded();
  const hit = (element.querySelector(".hit") ?? element).getBoundingClientRect();
  if (Math.min(hit.width, hit.height) < least) throw new Error(`${hit.width} by ${hit.height} px`);
  if (element.matches(".take")) {
    element.focus({ preventScroll: true, focusVisible: true });
    if (getComputedStyle(element).outlineStyle !== "solid") throw new Error("no ring");
  }
  return (start = middle());
};
