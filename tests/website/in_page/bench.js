// Where the bench of a page is not: right of all text however far one reads; in a narrow
// window a strip below the title.
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
  return faults;
};
