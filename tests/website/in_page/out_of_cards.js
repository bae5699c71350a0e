// What sticks out of an explorer's card on a narrow screen.
() =>
  [...document.querySelectorAll(".pe-explorer")].flatMap((card) => {
    const { left, right } = card.getBoundingClientRect();
    return [...card.querySelectorAll("svg, button, label, output, .words, .table")]
      .filter((part) => part.checkVisibility())
      .map((part) => [part, part.getBoundingClientRect()])
      .filter(([, box]) => box.left < left || box.right > right)
      .map(([part]) => `${part.localName}.${part.getAttribute("class")}`);
  });
