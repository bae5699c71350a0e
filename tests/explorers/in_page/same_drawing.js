// Whether the first two explorers of a page show the same; if not, what each shows.
() => {
  const [one, two] = [...document.querySelectorAll(".pe-explorer")].map(
    (x) =>
      x.querySelector(".stage").innerHTML +
      x.querySelector("output").innerHTML +
      [...x.querySelectorAll("b, dd")].map((b) => b.textContent).join(),
  );
  return one === two || one + "\n\n" + two;
};
