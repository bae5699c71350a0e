// Which pairs keep their distance if a sequence is cut and numbered?
{
  const N = 16, CUTS = ["contiguous", "zigzag"], NUMBERS = { local: "from 0", contiguous: "as if cut contiguous", zigzag: "as if cut in zigzag" };
  const shard = (order, ranks, rank) => {
    const size = N / ranks, half = size / 2;
    return range(size).map((i) => (order === "local" ? i : order === "contiguous" ? rank * size + i : i < half ? rank * half + i : (2 * ranks - 2 - rank) * half + i));
  };
  const next = (list, now) => list[(list.indexOf(now) + 1) % list.length];
  drawings.right_offsets = {
    size: [600, 620],
    alt: "A triangle of squares: rows are queries, columns the keys before them. Full squares have the right distance, small ones a wrong one. Below, the rank and the position of each token.",
    goal: "Cut the sequence in zigzag, so that every pair keeps its distance: press a row of numbers to change it.",
    reward: "<b>All 136.</b> The positions must belong to the cut. Where they do not, nothing raises an error: the model computes on, with wrong distances.",
    start: { ranks: 2, cut: "contiguous", numbers: "local" },
    view({ ranks, cut, numbers }) {
      const places = [], owners = [];
      for (const rank of range(ranks)) {
        shard(cut, ranks, rank).forEach((t, i) => {
          places[t] = shard(numbers, ranks, rank)[i];
          owners[t] = rank;
        });
      }
      const pairs = range(N).flatMap((t) => range(t + 1).map((s) => [s, t, places[t] - places[s] === t - s]));
      const first = shard(cut, ranks, 1)[0], right = pairs.filter(([, , is]) => is).length, x = (s) => 116 + 29 * s;
      const row = (y, name, values) => box("tile", 4, y - 22, 592, 44, 10) + text(52, y + 7, name, "count") + values.map((value, t) => text(x(t), y + 7, value)).join("");
      return {
        svg: pairs.map(([s, t, is]) => (is ? box("on", x(s) - 12, 20 + 26 * t, 23, 22, 2) : circle("score", 3, x(s), 31 + 26 * t))).join("") +
          row(476, "rank", owners) + row(532, "position", places) + text(300, 590, `${ranks} ranks, cut ${cut}; each counts ${NUMBERS[numbers]}`, "count"),
        sentence: `${right} of 136 pairs keep their distance. On rank 1 token ${first} has position ${places[first]}.`,
        reached: cut === "zigzag" && numbers === cut,
      };
    },
    handles: ({ ranks, cut, numbers }) => [
      { label: `How the sequence is cut: ${cut}`, x: 300, y: 476, hit: [-296, -44, 592, 72], pressed: cut === "zigzag", press: () => ({ cut: next(CUTS, cut) }) },
      { label: `How each rank counts: ${NUMBERS[numbers]}`, x: 300, y: 532, hit: [-296, -26, 592, 72], pressed: numbers !== "local", press: () => ({ numbers: next(Object.keys(NUMBERS), numbers) }) },
      { label: "Four ranks", press: () => ({ ranks: 6 - ranks }), pressed: ranks === 4 },
    ],
  };
}
