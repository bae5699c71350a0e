each("switches", (root, controls, form) => {
  const box = root.querySelector(".lamps"), digit = (t, j) => 2 * ((t >> j) & 1) - 1;
  const cells = all(root, ".code :is(i, span)"), tried = new Set();
  let best = 0;
  cells.forEach((cell, i) => (cell.onclick = () => {
    const three = controls[["ones", "twos", "fours"][Math.floor(i / 5)]];
    three.value = { 1: -1, "-1": 0, 0: 1 }[three.value];
    form.oninput();
  }));
  return () => {
    const weights = ["ones", "twos", "fours"].map((name) => +controls[name].value);
    const looks = range(4).map((i) =>
      highest(range(5).map((s) => weights.reduce((sum, w, j) => sum + w * digit(i + 1, j) * digit(s, j), 0))));
    const right = looks.filter((at, i) => at == i).length, served = range(4).filter((i) => looks[i] == i).map((i) => i + 1);
    best = Math.max(best, right);
    tried.add("" + weights);
    cells.forEach((cell, i) => cell.classList.toggle("mute", !weights[Math.floor(i / 5)]));
    box.innerHTML = lamps(looks);
    show(
      root,
      [...weights.map((w) => minus(`switch ${w}`)), `${right} of 4`, best],
      right ? `Right: ${right > 1 ? "queries" : "query"} ${served.join(" and ")}.` + (right > 1 && tried.size < 6 ? " Can you get three?" : "")
        : "No query attends to the word before" + (looks.every((at, i) => at == i + 1) ? ": each finds itself." : "."),
      best > 1 && tried.size > 5,
    );
  };
});
