// Where to take an element, which comes into sight: the size of what a finger hits, and
// its middle. `let_go` says whether its picture was another before the button was up, or
// after a switch was pressed, starts the drawing again, and says whether it then is as it was.
(element) => {
  const root = element.closest(".pe-explorer");
  const drawn = () => root.querySelector(".picture").innerHTML;
  const before = drawn();
  let moved = false;
  const observer = new MutationObserver(() => (moved ||= drawn() !== before));
  observer.observe(root, { subtree: true, childList: true, attributes: true });
  if (element.getAttribute("role") === "slider")
    root.addEventListener("pointerup", () => observer.disconnect(), { once: true, capture: true });
  element.let_go = () => {
    observer.disconnect();
    root.querySelector("button:last-child").click();
    return [moved, drawn() === before];
  };
  element.scrollIntoView({ block: "center" });
  const box = (part) => element.querySelector(part)?.getBoundingClientRect();
  const hit = box(".hit");
  const { x, y, width, height } = box(".sign") ?? hit;
  return [hit.width, hit.height, x + width / 2, y + height / 2];
};
