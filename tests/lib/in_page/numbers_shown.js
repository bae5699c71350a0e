// The numbers in each of the groups of a drawing.
(boxes) =>
  boxes.map((box) => [...box.querySelectorAll(".x")].map((x) => x.textContent));
