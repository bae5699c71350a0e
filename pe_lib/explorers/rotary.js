// A rotary score: the hands of a query and of a key, each turned by its position.
{
  const BEGINS = { key: 0.35, query: 1.25 }, R = 118, LAST = 28, MOST = 25, ALONG = 440 / LAST;
  const place = (t) => 34 + 19 * t;
  const tile = (t, kind, y, word, inside) =>
    group(moved(place(t), 330), path("edge", `M0 ${y < 0 ? "0V-15" : "0V40"}`), box(kind, -54, y, 108, 42, 8), text(-14, y + 28, word, inside), group(`translate(37 ${y + 21}) scale(0.8)`, path(inside ? "arrow" : "ink", ARROW)));

  drawings.rotary = {
    size: [600, 515],
    alt: "Above, a dial with two hands, one that ends in a dot, the query of York, and a pale one, the key of old, and the angle between them; beside it a needle that shows their score. Below, a line of positions with the two words on it.",
    goal: "Move both words to other places. Then find a way to change the score.",
    reward: "<b>A different offset.</b> There is no other way: only the offset between the two words matters, not where they are.",
    start: { query: 16, key: 13, both: false, apart: false },
    view({ query, key, both, apart, last }) {
      const k = key + BEGINS.key, q = query + BEGINS.query, gap = positive(q - k), score = Math.cos(gap);
      const wedge = `M0 0L${at(...tip(k, 54))}A54 54 0 ${+(gap > TURN / 2)} 1 ${at(...tip(q, 54))}Z`, [x, y] = tip(0.8 * score, 74);
      const scale = [-1, 0, 1].map((v) => {
        const [[x, y], [out, up]] = [74, 94].map((far) => tip(0.8 * v, far));
        return path("edge", `M${at(496 + x, 190 + y)}L${at(496 + out, 190 + up)}`) + text(496 + 1.22 * out, 196 + 1.22 * up, minus(v), "count");
      });
      const ticks = range(LAST + 1).map((t) => path("hair", `M${place(t)} 324v12`) + (t % 5 ? "" : text(place(t), 361, t, "count")));
      return {
        svg: group(moved(190, 134), circle("face", R), path("wedge", wedge), group(turned(k), path("pale", `M0 0V${6 - R}`)), group(turned(q), hand(R - 6, 7))) +
          path("edge", "M416 180A94 94 0 0 1 576 180") + scale.join("") + path("ink", `M496 190L${at(496 + x, 190 + y)}`) + text(496, 222, "score", "count") +
          path("edge", "M10 330H590") + ticks.join("") + tile(key, "tile", 40, "old") + tile(query, "on", -57, "York", "inside") +
          path("edge", "M130 454H570") + text(56, 461, "both") + text(130, 500, 0, "count") + text(570, 500, LAST, "count"),
        sentence: `${last === "both" ? "Both words moved, and the score stayed. " : ""}York at ${query}, old at ${key}: ${query - key} apart, ${Math.round(degrees(gap))}° between them, score ${fixed(score)}.`,
        reached: both && apart,
      };
    },
    handles({ query, key, both }) {
      const gap = query - key, one = { step: 1, along: [19, 0], hit: [-54, -36, 108, 72], sign: false };
      return [
        {
          label: "Both words", text: `the query at ${query}, ${gap} apart`, x: 130 + ALONG * query, y: 454, value: query, low: gap, high: LAST, step: 1, along: [ALONG, 0],
          set: (t) => ({ query: Math.round(t), key: Math.round(t) - gap, both: true, last: "both" }),
        },
        {
          ...one, label: "old, the key", text: `position ${key}`, x: place(key), y: 391, value: key, low: Math.max(0, query - MOST), high: query - 1,
          set: (t) => ({ key: Math.round(t), apart: both, last: "one" }),
        },
        {
          ...one, label: "York, the query", text: `position ${query}`, x: place(query), y: 294, value: query, low: key + 1, high: Math.min(LAST, key + MOST),
          set: (t) => ({ query: Math.round(t), apart: both, last: "one" }),
        },
      ];
    },
  };
}
