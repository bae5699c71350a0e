// Three knobs turn the hands of all keys: which queries are then right?
{
  const ROUNDS = [2, 4, 8], LENGTHS = range(8).map((i) => i + 5);
  drawings.knobs = {
    size: [600, 560],
    alt: "Positions in a row, with arrows from each to the one that it attends to most, thin ones where two are equal. Below are three knobs, whose hands come round in 2, 4 and 8 positions; each turns this hand of all keys.",
    goal: "Turn the hands of all keys until every query attends one back.",
    reward: "<b>One setting is right for all queries.</b> At one step of each hand, 180, 90 and 45 degrees, the wanted key agrees in every hand. Now make the text longer.",
    start: { turns: [0, 0, 0], words: 5 },
    view({ turns, words }) {
      const looks = range(words - 1).map((i) => highest(range(words).map((s) => sum(ROUNDS.map((r, j) => Math.cos((TURN * (s - i - 1)) / r + (TURN * turns[j]) / 360))))));
      const right = looks.filter((at, i) => at.length === 1 && at[0] === i).length, split = looks.findIndex((at) => at.length > 1);
      const place = (t) => 60 + (480 * t) / (words - 1);
      return {
        svg: looks.flatMap((at, i) => at.map((s) => arrow(at.length > 1 ? "tied" : s === i ? "found" : "missed", place(i + 1), place(s), 152))).join("") +
          range(words).map((t) => text(place(t), 180, t)).join("") +
          ROUNDS.map((r, j) => group(moved(110 + 190 * j, 280),
            range(r).map((i) => group(turned((TURN * i) / r), path("edge", "M0 -62V-72"))).join(""), dial(62, (TURN * turns[j]) / 360),
            text(0, 108, `wavelength ${r}`, "count"), text(0, 136, minus(`${turns[j]}°`)))).join("") +
          stops(60, 498, 480, LENGTHS, "words in the text"),
        sentence: right === words - 1 ? "One setting is right for every query."
          : split >= 0 ? `Query ${split + 1} has a tie between ${looks[split].join(" and ")}.`
          : right ? `${right} of ${words - 1} attend one back, with one setting for all.`
          : turns.some(Boolean) ? "No query attends to the word before."
          : "No query attends to the word before: unturned, each finds itself.",
        reached: right === words - 1,
      };
    },
    handles: ({ turns, words }) => [
      ...ROUNDS.map((r, j) => {
        const angle = (TURN * turns[j]) / 360, [x, y] = tip(angle, 62);
        return {
          label: `Wavelength ${r}`, text: `${turns[j]} degrees`, x: 110 + 190 * j + x, y: 280 + y, hit: [-x - 70, -y - 70, 140, 140],
          around: [110 + 190 * j, 280], value: angle, low: -TURN / 2, high: TURN / 2, step: TURN / 72,
          set: (to) => ({ turns: turns.map((x, i) => (i === j ? 5 * Math.round(degrees(to) / 5) + 0 : x)) }),
        };
      }),
      stop(60, 498, 480, LENGTHS, words, "Words in the text", (to) => ({ words: to })),
    ],
  };
}
