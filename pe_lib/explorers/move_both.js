// A rotary score: the hands of a query and of a key, each turned by its position.
{
  // words: of the key and the query; speeds: of the hands, which begin at these angles;
  // last: the highest position; gaps: how far apart the two may be.
  const drawing = ({ words, speeds, begins, last, gaps: [least, most], ...more }) => {
    const angles = (t, who) => speeds.map((w) => w * t + begins[who]);
    const seen = Math.min(last, 28), place = (t, start) => 20 + 20 * (t - start);
    const two = speeds.length > 1, r = two ? 88 : 118;
    const middle = (j) => (two ? [104 + 196 * j, 106] : [190, 140]);
    const along = (x) => 60 + (480 * (x - most)) / (last - most);
    // The nearer it comes to an end, the row goes with it.
    const from = (query, start) => within(Math.max(0, query - seen + 1), start, Math.max(0, query - most));
    return {
      size: [600, 470],
      ...more,
      view(state) {
        const { query, key, start } = state;
        const [as, bs] = [angles(key, 0), angles(query, 1)], turns = as.map((a, j) => bs[j] - a), score = sum(turns.map(Math.cos));
        const dials = as.map((a, j) => {
          const gap = positive(turns[j]), ends = `M0 0L${at(...tip(a, 54))}A54 54 0 ${+(gap > TURN / 2)} 1 ${at(...tip(bs[j], 54))}Z`;
          const [x, y] = middle(j);
          return group(moved(x, y), circle("face", r), path("wedge", ends), group(turned(a), path("pale", `M0 0V${6 - r}`)), group(turned(bs[j]), hand(r - 6, 7))) +
            (two ? text(x, 226, `${speeds[j]} rad: gap ${fixed(degrees(wrap(turns[j])), 1)}°`, "count") : "");
        });
        const [nx, ny] = tip((0.8 * score) / speeds.length, 74), x = place(key, start), y = place(query, start);
        const ticks = range(seen + 1).map((i) => path("hair", `M${20 + 20 * i} 324v12`) + ((start + i) % 5 ? "" : text(20 + 20 * i, 364, start + i, "count")));
        return {
          svg: dials.join("") + path("edge", "M416 180A94 94 0 0 1 576 180") + path("ink", `M496 190L${at(496 + nx, 190 + ny)}`) + text(496, 222, "score", "count") +
            path("edge", "M10 330H590") + ticks.join("") +
            group(moved(x, 366), path("edge", "M0 -36V16"), box("tile", -34, 16, 68, 42, 8), text(0, 44, words[0])) +
            group(moved(y, 294), path("edge", "M0 21V36"), box("on", -34, -21, 68, 42, 8), text(0, 7, words[1], "inside")) +
            path("edge", "M60 440H540"),
          sentence: more.says(query, key, turns, score),
          reached: more.wins(state),
        };
      },
      handles: (state) => {
        const { query, key, start } = state;
        return [
          {
            label: "Both words", text: `${query - key} apart`, x: along(query), y: 440, value: query, low: most, high: last, step: 1, along: [480 / (last - most), 0],
            set: (t) => ({ query: Math.round(t), key: Math.round(t) - (query - key), start: from(Math.round(t), start), both: true, last: "both" }),
          },
        ];
      },
    };
  };
}
