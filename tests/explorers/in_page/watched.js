// Where to take an element that is in sight: the size of what a finger hits, and its
// middle. `let_go` says whether its picture was another after a move, or now that a
// switch was pressed; it starts the drawing again, and says whether it is as it was.
(element) => {
  const root = element.closest(".pe-explorer");
  const drawn = () => root.querySelector(".picture").innerHTML;
  const before = drawn();
  let moved = false;
  const look = () => (moved ||= drawn() !== before);
  root.addEventListener("pointermove", look);
  element.let_go = () => {
    root.removeEventListener("pointermove", look);
    if (element.getAttribute("role") === "switch") look();
    root.querySelector("button:last-child").click();
    return [moved, drawn() === before];
  };
  const box = (part) => element.querySelector(part)?.getBoundingClientRect();
  const hit = box(".hit");
  const { x, y, width, height } = box(".sign") ?? hit;
  return [hit.width, hit.height, x + width / 2, y + height / 2];
};
