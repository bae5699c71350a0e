// The share of the main text's height that figures, explorers and open code take.
() => {
  const box = (element) => element.getBoundingClientRect();
  const top = box(document.querySelector("main h1")).top;
  const end = box(document.querySelector(".fold-part, section.deeper")).top;
  const others = "main figure, main .pe-explorer, main .cell_input .highlight";
  return [...document.querySelectorAll(others)]
    .filter((element) => element.checkVisibility() && box(element).top < end)
    .reduce((sum, element) => sum + box(element).height, 0) / (end - top);
};
