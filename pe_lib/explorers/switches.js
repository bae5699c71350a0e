each("switches", (root, controls) => {
  const box = root.querySelector(".lamps"), digit = (t, j) => 2 * ((t >> j) & 1) - 1;
  let best = 0;
  return () => {
    const weights = ["ones", "twos", "fours"].map((name) => +controls[name].value);
    const looks = range(4).map((i) =>
      highest(range(5).map((s) => weights.reduce((sum, w, j) => sum + w * digit(i + 1, j) * digit(s, j), 0))));
    const right = looks.filter((at, i) => at == i).length, served = range(4).filter((i) => looks[i] == i).map((i) => i + 1);
    best = Math.max(best, right);
    box.innerHTML = lamps(looks);
    show(
      root,
      [`${right} of 4`, best],
      right ? `Served: ${right > 1 ? "queries" : "query"} ${served.join(" and ")}.`
        : "Nobody looks one back" + (looks.every((at, i) => at == i + 1) ? ": every word finds itself." : "."),
      right > 1,
    );
  };
});
