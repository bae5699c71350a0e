// A rotary score: the hands of a query and of a key, each turned by its position.
{
  // words: of the key and the query; speeds of the hands, and where both begin;
  // last: the highest position; gaps: how far apart the two may be.
  const drawing = ({ words, speeds, begins, last, gaps: [least, most], says, ...more }) => {
    const two = speeds.length > 1, r = two ? 88 : 118;
    const middle = (j) => (two ? [104 + 196 * j, 104] : [190, 134]);
    const along = 440 / last;
    const scale = (most) => [-most, 0, most].map((v) => {
      const [[x, y], [out, up]] = [74, 94].map((far) => tip((0.8 * v) / most, far));
      return path("edge", `M${at(496 + x, 190 + y)}L${at(496 + out, 190 + up)}`) + text(496 + 1.22 * out, 196 + 1.22 * up, minus(v), "count");
    }).join("");
    // The row shows 28 positions, and goes along with a word at its end.
    const from = (query, left) => within(0, within(query - 24, left, query - most - 4), last - 28);
    return {
      size: [600, 515],
      goal: "Move both words as far as you like. Then find a way to change the score.",
      reward: "<b>A different offset.</b> There is no other way: only the offset between the two words matters, not where they are.",
      ...more,
      view({ query, key, left, both, apart, last: by }) {
        const start = from(query, left), place = (t) => 34 + 19 * (t - start);
        const keys = speeds.map((w) => w * key + begins[0]), queries = speeds.map((w) => w * query + begins[1]);
        const turns = queries.map((angle, j) => positive(angle - keys[j])), score = sum(turns.map(Math.cos));
        const dials = speeds.map((w, j) => {
          const [x, y] = middle(j), ends = `M0 0L${at(...tip(keys[j], 54))}A54 54 0 ${+(turns[j] > TURN / 2)} 1 ${at(...tip(queries[j], 54))}Z`;
          return group(moved(x, y), circle("face", r), path("wedge", ends), group(turned(keys[j]), path("pale", `M0 0V${6 - r}`)), group(turned(queries[j]), hand(r - 6, 7))) +
            (two ? text(x, 220, count(w, "radian"), "count") + text(x, 246, `gap ${f(degrees(turns[j]))}°`, "count") : "");
        });
        const [x, y] = tip((0.8 * score) / speeds.length, 74);
        const ticks = range(29).map((i) => path("hair", `M${34 + 19 * i} 324v12`) + ((start + i) % 5 ? "" : text(34 + 19 * i, 361, start + i, "count")));
        return {
          svg: dials.join("") + path("edge", "M416 180A94 94 0 0 1 576 180") + scale(speeds.length) + path("ink", `M496 190L${at(496 + x, 190 + y)}`) + text(496, 222, "score", "count") +
            path("edge", "M10 330H590") + ticks.join("") +
            group(moved(place(key), 330), path("edge", "M0 0V40"), box("tile", -54, 40, 108, 42, 8), text(-14, 68, words[0]), group("translate(37 61) scale(0.8)", path("ink", ARROW))) +
            group(moved(place(query), 330), path("edge", "M0 0V-15"), box("on", -54, -57, 108, 42, 8), text(-14, -29, words[1], "inside"), group("translate(37 -36) scale(0.8)", path("arrow", ARROW))) +
            path("edge", "M130 454H570") + text(56, 461, "both") + text(130, 500, 0, "count") + text(570, 500, last, "count"),
          sentence: (by === "both" ? "Both words moved, and the score stayed. " : "") + says(query, key, turns, score),
          reached: both && apart,
        };
      },
      handles({ query, key, left, both }) {
        const start = from(query, left), gap = query - key, place = (t) => 34 + 19 * (t - start);
        const put = (to, s, more) => ({ query: to, key: s, left: from(to, start), ...more });
        const one = { step: 1, along: [19, 0], hit: [-54, -36, 108, 72], sign: false };
        return [
          {
            label: "Both words", text: `the query at ${query}, ${gap} apart`, x: 130 + along * query, y: 454, value: query, low: gap, high: last, step: 1, along: [along, 0],
            set: (t) => put(Math.round(t), Math.round(t) - gap, { both: true, last: "both" }),
          },
          {
            ...one, label: `${words[0]}, the key`, text: `position ${key}`, x: place(key), y: 391, value: key, low: Math.max(0, query - most), high: query - least,
            set: (t) => put(query, Math.round(t), { apart: both, last: "one" }),
          },
          {
            ...one, label: `${words[1]}, the query`, text: `position ${query}`, x: place(query), y: 294, value: query, low: key + least, high: Math.min(last, key + most),
            set: (t) => put(Math.round(t), key, { apart: both, last: "one" }),
          },
        ];
      },
    };
  };

  drawings.rotary = drawing({
    alt: "Above, a dial with two arrows, the query of York and the key of old, and the angle between them; beside it a needle that shows their score. Below, a line of positions with the two words on it.",
    words: ["old", "York"], speeds: [0.5], begins: [0.35, 1.25], last: 28, gaps: [1, 25],
    start: { query: 16, key: 13, left: 0, both: false, apart: false },
    says: (query, key, [gap], score) =>
      `York at ${query}, old at ${key}: ${query - key} apart, ${Math.round(degrees(gap))}° between them, score ${fixed(score)}.`,
  });
  drawings.move_both = drawing({
    alt: "Above, two dials, each with a full hand of the query, a pale one of the key and the angle between them; beside them a needle that shows the score. Below, a line of positions with the query above it and the key below.",
    words: ["key", "query"], speeds: [1, 0.01], begins: [0, 0], last: 104, gaps: [0, 4],
    start: { query: 4, key: 3, left: 0, both: false, apart: false },
    says: (query, key, _, score) => `Query ${query}, key ${key}: the score is ${fixed(score, 4)}.`,
  });
}
