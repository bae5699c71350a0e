// What sticks out of a drawing on a narrow screen; the first page's field is cut off there.
() =>
  [...document.querySelectorAll(".pe-explorer:not([data-drawing=hero])")].flatMap((card) => {
    const { left, right } = card.getBoundingClientRect();
    return [...card.querySelectorAll("svg, button, output")]
      .filter((part) => part.checkVisibility())
      .map((part) => [part, part.getBoundingClientRect()])
      .filter(([, box]) => box.left < left - 0.5 || box.right > right + 0.5)
      .map(([part]) => `${part.localName}.${part.getAttribute("class")}`);
  });
