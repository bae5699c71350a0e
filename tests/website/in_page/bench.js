// Where the bench of a page is not: right of all text however far one reads; in a narrow
// window a strip below the title. There its goal, drawing and answer are seen at once, on
// 390 by 664 px, between bars. It says what a head is.
() => {
  const box = (what) => document.querySelector(what)?.getBoundingClientRect();
  const faults = [];
  for (const top of [0, 1500, document.body.scrollHeight]) {
    scrollTo({ top, behavior: "instant" });
    const title = box("main h1"), bench = box('.bench > [data-drawing="bench"]'), strip = box(".bench > summary");
    const beside = bench && bench.left >= title.left + 600 && bench.right <= innerWidth && bench.top >= 0 && bench.bottom <= 800;
    const below = strip && strip.height <= 74 && strip.top > title.top && strip.left >= 0 && strip.right <= innerWidth && bench.height > 0;
    if (!(innerWidth > 1000 ? beside : below)) faults.push(`not there at ${top}`);
  }
  scrollTo({ top: 0, behavior: "instant" });
  const [goal, answer, note] = [" .goal", " output", " > .note"].map((part) => document.querySelector(`.bench > [data-drawing="bench"]${part}`));
  if (!note?.textContent.includes("head")) faults.push("it does not say what a head is");
  const tall = answer && answer.getBoundingClientRect().bottom - goal.getBoundingClientRect().top;
  if (innerWidth < 400 && !(tall <= 664 - 44)) faults.push(`from goal to answer ${tall} px`);
  return faults;
};
