// A head that attends k positions back: each hand of every key turned by one angle.
{
  const MOST = 10, POSITIONS = 24, QUERY = 20, SPEEDS = frequencies(16), COLUMN = 560 / POSITIONS;
  const column = (s) => 10 + COLUMN * (s + 0.5), row = (j) => 28 + 24 * j;

  drawings.spike = {
    size: [600, 480],
    alt: "Orange waves, one above the other, the upper ones short, the lower ones long. At one position before York all have a crest. Bars show York’s weight for each position.",
    goal: "Drag the last wave down until nearly all of York’s weight is on one word. Then drag the crest.",
    reward: "<b>All hands agree at one position alone.</b> Such a head attends any number of positions back: only the angles of its rotations differ.",
    start: { hands: 2, back: 1 },
    view({ hands, back }) {
      const weights = softmax(range(POSITIONS).map((s) => 4 * sum(range(hands).map((j) => Math.cos(SPEEDS[j] * (QUERY - back - s))))));
      const wave = (j) => line(range(181).map((i) => {
        const s = (POSITIONS * i) / 180 - 0.5;
        return [column(s), row(j) - 10 * Math.cos(SPEEDS[j] * (QUERY - back - s))];
      }));
      const bars = weights.map((w, s) => box(s === QUERY - back ? "best" : "score", column(s) - 9, 424 - 130 * w, 18, 130 * w));
      return {
        svg: range(MOST).map((j) => (j < hands ? path("cosine thin", wave(j)) : path("hair", `M10 ${row(j)}H570`))).join("") + bars.join("") +
          path("edge", "M10 424H570") + text(column(QUERY), 474, "York") + path("solid", `M${f(column(QUERY))} 442l7 10h-14z`) +
          path("aim", `M${at(column(QUERY - back), 12)}V424`),
        sentence: `${count(hands, "hand")}: ${fixed(100 * weights[QUERY - back], 0)} % of York’s weight is on the word ${count(back, "position")} before.`,
        reached: weights[QUERY - back] > 0.8,
      };
    },
    handles: ({ hands, back }) => [
      {
        label: "The crest", text: `${back} before York`, x: column(QUERY - back), y: 270, value: back, low: 1, high: 12, step: 1, along: [-COLUMN, 0],
        set: (to) => ({ back: Math.round(to) }),
      },
      {
        label: "Hands", text: count(hands, "hand"), x: 574, y: row(hands - 1), value: hands, low: 1, high: MOST, step: 1, along: [0, 24],
        set: (to) => ({ hands: Math.round(to) }),
      },
    ],
  };
}
