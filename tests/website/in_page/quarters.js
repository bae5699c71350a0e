// The shares of the main text's height that figures (with explorers) and open code take.
() => {
  const box = (element) => element.getBoundingClientRect();
  const top = box(document.querySelector("main h1")).top;
  const end = box(document.querySelector(".fold-recall")).top;
  const share = (names) =>
    [...document.querySelectorAll(names)]
      .filter((element) => element.checkVisibility() && box(element).top < end)
      .reduce((sum, element) => sum + box(element).height, 0) / (end - top);
  return [share("main figure, main .pe-explorer"), share("main .cell_input .highlight")];
};
