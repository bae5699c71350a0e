// Positions in binary: one rule keeps, flips or drops the same digits of every key.
{
  const NEXT = { 1: -1, "-1": 0, 0: 1 }, KIND = { 1: "stays", "-1": "flips", 0: "drops" };
  const DIGITS = range(5).map((t) => range(3).map((j) => 2 * ((t >> j) & 1) - 1));
  drawings.switches = {
    size: [600, 396],
    alt: "The five words with their positions in binary: a row of squares for the ones, one for the twos, one for the fours; filled is 1. Arrows lead from each word to the one that it attends to most, thin ones where several are equal.",
    goal: "Press rows to flip or drop a digit of every key. Get as many of the four words as you can to attend to the word before.",
    reward: "<b>No rule gets more.</b> None of the 27 settings does. A full matrix gets three, but 3 and 4 never together, because they differ in every digit.",
    start: { switches: [1, 1, 1], presses: 0 },
    view({ switches, presses }) {
      const keys = DIGITS.map((row) => row.map((x, j) => switches[j] * x));
      const looks = DIGITS.map((query) => highest(keys.map((key) => dot(query, key))));
      const found = looks.map((at, t) => t > 0 && at.length === 1 && at[0] === t - 1), hits = found.filter(Boolean).length;
      const arcs = looks.flatMap((at, t) => (at.length > 3 ? [] : at.map((s) => arrow(at.length > 1 ? "tied" : found[t] ? "found" : "missed", seat(t), seat(s), 112))));
      const rows = ["1s", "2s", "4s"].map((name, j) => group(moved(0, 72 * j),
        box(KIND[switches[j]], 4, 178, 592, 62, 31), text(20, 216, name, "count"), text(578, 216, `×${minus(switches[j])}`, "count"),
        ...keys.map((key, t) => box(key[j] > 0 ? "on" : key[j] < 0 ? "off" : "none", seat(t) - 23, 186, 46, 46, 8))));
      const itself = looks.every((at, t) => at.length === 1 && at[0] === t);
      return {
        svg: arcs.join("") + rows.join("") + WORDS.map((word, t) => text(seat(t), 140, word) + text(seat(t), 166, t, "count")).join(""),
        sentence: itself ? "Each word attends most to itself." : `${hits} of 4 words attend most to the word before.`,
        reached: hits === 2 && presses > 2,
      };
    },
    handles: ({ switches, presses }) => ["ones", "twos", "fours"].map((name, j) => ({
      label: `Switch of the ${name}: ${minus(switches[j])}`, x: 300, y: 209 + 72 * j, hit: [-296, -36, 592, 72], pressed: switches[j] !== 1,
      press: () => ({ presses: presses + 1, switches: switches.map((x, i) => (i === j ? NEXT[x] : x)) }),
    })),
  };
}
