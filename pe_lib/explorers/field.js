// The sinusoidal encoding: a column of hands for each position, small ones as a heat map.
{
  const WIDTH = (words) => 540 * (0.72 + (0.28 * (words - 7)) / 57);
  const shape = (words, hands) => {
    const column = WIDTH(words) / words, high = Math.min(330 / hands, Math.max(column, 20.6));
    return [column, high, Math.min(column, high) / 2 - 2];
  };
  const SPEEDS = frequencies(16), TOP = 10, FOOT = 450;
  // As a heat map: columns are positions, two rows for each hand.
  const cells = (words, hands) => [["sine", Math.sin], ["cosine", Math.cos]].map(([kind, wave], odd) => {
    const levels = range(17).map(() => "");
    range(words).forEach((t) => range(hands).forEach((j) => (levels[Math.floor(8 * (1 + wave(SPEEDS[j] * t)) + 0.5)] += `M${t} ${2 * j + odd + 0.5}h1`)));
    return levels.map((runs, n) => (n && runs ? path(`${kind} cell`, runs, ` opacity="${n / 16}"`) : "")).join("");
  }).join("");

  drawings.field = {
    size: [600, 480],
    alt: "A column of clock hands for each position, the fast hands on top; where they are too small to see they are squares, blue for the sine and orange for the cosine. Bars below the columns: how much each encoding is like that of position 0.",
    goal: "Pull the corner: enough positions for a near copy of encoding 0, then enough hands to tell them apart.",
    reward: "<b>All encodings are different, and all have the same norm.</b> This is the sinusoidal encoding.",
    start: { words: 16, hands: 2 },
    view({ words, hands }) {
      const [column, high, radius] = shape(words, hands);
      const alike = range(words).map((t) => sum(range(hands).map((j) => Math.cos(SPEEDS[j] * t))) / hands);
      const nearest = alike.indexOf(Math.max(...alike.slice(1)), 1);
      // The bars have the room that the hands leave.
      const low = TOP + high * hands, tall = FOOT - low - 50;
      const bars = alike.map((q, t) => box(t && q > 0.995 ? "best" : "score", 20 + column * (t + 0.15), FOOT - tall * Math.max(0, q), 0.7 * column, tall * Math.max(0, q)));
      const field = radius < 10
        ? `<g transform="${moved(20, TOP)} scale(${column.toFixed(3)} ${(high / 2).toFixed(3)})">${cells(words, hands)}</g>`
        : range(words).flatMap((t) => range(hands).map((j) => group(moved(20 + column * (t + 0.5), TOP + high * (j + 0.5)), dial(radius, SPEEDS[j] * t, { legs: true })))).join("");
      return {
        svg: field + bars.join("") + path("edge", `M20 ${FOOT}h${f(WIDTH(words))}`) + text(20, FOOT + 28, "how alike each is to encoding 0", "label"),
        sentence: `${count(words, "position")}, ${count(hands, "hand")}: encoding ${nearest} is most like encoding 0, cosine ${fixed(alike[nearest])}.`,
        reached: hands > 3 && words > 24 && alike[nearest] < 0.995,
      };
    },
    handles: ({ words, hands }) => [{
      label: "The corner: right for more positions, down for more hands",
      text: `${count(words, "position")}, ${count(hands, "hand")}`,
      x: 24 + WIDTH(words), y: TOP + 6 + shape(words, hands)[1] * hands,
      value: words, low: 7, high: 64, step: 1, along: [WIDTH(8) - WIDTH(7), 0], set: (n) => ({ words: Math.round(n) }),
      up: { value: hands, low: 1, high: 16, step: -1, along: [0, 20.6], set: (n) => ({ hands: Math.round(n) }) },
    }],
  };
}
