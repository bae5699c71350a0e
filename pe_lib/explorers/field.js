// The sinusoidal encoding: a column of hands for each position, small ones as a heat map.
{
  const WIDTH = (words) => 540 * (0.72 + (0.28 * (words - 7)) / 57);
  const shape = (words, hands) => {
    const column = WIDTH(words) / words, high = Math.min(330 / hands, Math.max(column, 20.6));
    return [column, high, Math.min(column, high) / 2 - 2];
  };
  const SPEEDS = frequencies(16), TOP = 10, FOOT = 450;

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
        ? `<g transform="${moved(20, TOP)} scale(${column.toFixed(3)} ${(high / 2).toFixed(3)})">${cells(range(words).map((t) => range(hands).map((j) => SPEEDS[j] * t)))}</g>`
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

  const BASES = [2, 4, 16, 100, 256, 1000, 10000, 100000, 1000000], WIDTHS = [4, 8, 16];
  drawings.heat_map = {
    size: [600, 555],
    alt: "Above, the sinusoidal table of positions 0 to 31, sines in blue, cosines in orange, fast hands first. Below, the five binary digits of the same positions, the ones first. A frame marks one position.",
    goal: "Find a base that makes each hand exactly twice as slow as the one above, as the digits are.",
    reward: "<b>Exactly twice.</b> Each hand takes twice as long as the one above, as the digits do. But its wavelength is π times its digit’s period, and it glides where the digit jumps. The base needed is two to the power of half the width.",
    start: { d_model: 16, base: 10000, position: 6 },
    view({ d_model, base, position }) {
      const hands = d_model / 2, speeds = frequencies(hands, base);
      const digits = range(32).flatMap((t) => range(5).filter((j) => (t >> j) & 1).map((j) => `M${t} ${j + 0.5}h1`)).join("");
      return {
        svg: text(30, 20, "sinusoid", "label") +
          `<g transform="translate(30 28) scale(16.875 ${f(240 / d_model)})">${cells(range(32).map((t) => speeds.map((w) => w * t)))}</g>` +
          `<g transform="translate(30 316) scale(16.875 18)">${path("digit cell", digits)}</g>` + text(30, 430, "binary digits", "label") +
          box("frame", 30 + 16.875 * position, 26, 16.875, 382) +
          stops(36, 496, 116, WIDTHS, "numbers, d") + stops(220, 496, 346, ["2", "4", "16", "100", "256", "10³", "10⁴", "10⁵", "10⁶"], "base"),
        sentence: `Each hand is ${fixed(base ** (2 / d_model))} times slower than the one above it, each digit 2 times. Position ${position} is ${range(5).map((j) => (position >> j) & 1).join(" ")}, the ones first.`,
        reached: base === 2 ** (d_model / 2),
      };
    },
    handles: ({ d_model, base, position }) => [
      {
        label: "Position", text: `position ${position}`, x: 30 + 16.875 * (position + 0.5), y: 292, value: position, low: 0, high: 31, step: 1, along: [16.875, 0],
        set: (t) => ({ position: Math.round(t) }),
      },
      stop(36, 496, 116, WIDTHS, d_model, "Numbers, d", (d) => ({ d_model: d })),
      stop(220, 496, 346, BASES, base, "Base", (to) => ({ base: to }), (x) => x.toLocaleString("en")),
    ],
  };
}
