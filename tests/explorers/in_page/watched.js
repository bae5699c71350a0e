// Where a finger takes an element that is not too small. `let_go` says whether its picture
// changed on a move, or with what is heard when it was pressed; whether others of its kind
// stayed, the page left the finger to it, and it is as it was, once started again.
(element, least) => {
  const root = element.closest(".pe-explorer"), own = root.querySelector(".picture");
  const kind = [...document.querySelectorAll(`[data-drawing="${root.dataset.drawing}"] .picture`)];
  const others = () => kind.map((one) => (one === own ? "" : one.innerHTML)).join();
  const heard = () => element.ariaChecked ?? element.ariaPressed;
  const before = own.innerHTML, beside = others(), said = heard();
  let moved = false, lost = false;
  const look = () => (moved ||= own.innerHTML !== before);
  root.addEventListener("pointermove", look);
  root.addEventListener("pointercancel", () => (lost = true));
  element.let_go = () => {
    root.removeEventListener("pointermove", look);
    if (said) moved = look() && heard() !== said;
    const alone = others() === beside;
    root.querySelector("button:last-child").click();
    return moved && !lost && alone && own.innerHTML === before;
  };
  element.scrollIntoViewIfNeeded();
  const box = (part) => element.querySelector(part)?.getBoundingClientRect();
  const hit = box(".hit") ?? element.getBoundingClientRect();
  if (Math.min(hit.width, hit.height) < least) throw new Error(`${hit.width} by ${hit.height} px`);
  const { x, y, width, height } = box(".sign") ?? hit;
  return [x + width / 2, y + height / 2];
};
