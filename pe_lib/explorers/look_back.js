// A head that attends k positions back: each hand of every key turned by one angle.
{
  const MOST = 10, POSITIONS = 24, QUERY = 20, SPEEDS = frequencies(16), COLUMN = 560 / POSITIONS;
  const column = (s) => 10 + COLUMN * (s + 0.5), row = (j) => 28 + 24 * j;

  drawings.spike = {
    size: [600, 480],
    alt: "Orange waves, one above the other, the upper ones short, the lower ones long. At one position before York all have a crest. Bars show York’s weight for each position.",
    goal: "Drag the last wave down until nearly all of York’s weight is on one word. Then drag the crest.",
    reward: "<b>All hands agree at one position alone.</b> The same head attends any number of positions back: only its turns differ.",
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

  const SLOWER = frequencies(4, 20), N = 16;
  const fits = (turn, j) => Math.abs(wrap(turn - SLOWER[j])) < 1e-9;
  const dials = (j) => 84 + 144 * j, place = (t) => 30 + 21 * t;
  drawings.look_back = {
    size: [600, 490],
    alt: "Four dials with the hands of the key before the query, and dotted those of the query. Below at the left, bars: how much the query attends to each of the positions 0 to 15. At the right a map, with a row for each query and a column for each key.",
    goal: "Turn each hand of the key onto the dotted hand of the query. Do the same turns work for all other pairs?",
    reward: "<b>All 15 attend one back.</b> You turned each hand by one step of its own, which depends on no position: the matrix that you built is T(1). Turn the first hand away, and the diagonal comes apart; turn the last one anywhere, and it stays, because fast hands tell neighbours apart.",
    start: { query: 11, turns: [0, 0, 0, 0], whole: false },
    view({ query, turns, whole }) {
      const scores = range(N).map((t) => range(N).map((s) => 4 * sum(SLOWER.map((w, j) => Math.cos(w * (s - t) + turns[j])))));
      const weights = scores.map(softmax), best = scores.map(highest), seen = best[query], met = turns.filter(fits).length;
      const right = range(N).filter((t) => t && best[t].length === 1 && best[t][0] === t - 1).length;
      const gap = (j) => Math.round(degrees(Math.abs(wrap(turns[j] - SLOWER[j]))));
      const where = seen.length > 1 ? `cannot decide between ${seen.length} positions` : seen[0] === query ? "attends to itself" : seen[0] === query - 1 ? "attends one back" : `attends to ${seen[0]}, not to ${query - 1}`;
      const map = range(N).flatMap((t) => weights[t].map((w, s) => (w < 0.02 ? "" : `<path class="digit cell" d="M${s} ${t + 0.5}h1" opacity="${plain(w, 2)}"/>`)));
      return {
        svg: SLOWER.map((w, j) => group(moved(dials(j), 72), dial(58, w * (query - 1) + turns[j], { wanted: w * query, legs: true, fit: fits(turns[j], j) })) +
            text(dials(j), 166, fits(turns[j], j) ? "✓ on it" : `${gap(j)}° to go`, "count")).join("") +
          weights[query].map((w, s) => box(s === query - 1 ? "best" : "score", place(s) - 8, 400 - 170 * w, 16, 170 * w)).join("") +
          path("edge", "M20 400H356") + path("aim", `M${at(place(query - 1) - 10, 400)}V222h20V400`) + [0, 5, 10, 15].map((t) => text(place(t), 478, t, "count")).join("") +
          text(20, 208, "weight of each key", "label") +
          path("edge", "M392 218h176v176h-176z") + (whole ? `<g transform="translate(392 218) scale(11)">${map.join("")}</g>` : text(480, 314, "?")) +
          path("aim", "M397.5 234.5L551.5 388.5") + text(480, 424, "all queries", "count"),
        sentence: `Position ${query} ${where}, with a weight of ${fixed(weights[query][query - 1])} on ${query - 1}` +
          (whole ? `; ${right} of 15 positions attend one back.` : met === 4 ? ". Does that hold for other positions?" : "."),
        reached: whole && met === 4 && right === 15,
      };
    },
    handles: ({ query, turns, whole }) => [
      ...SLOWER.map((w, j) => {
        const [x, y] = tip(w * (query - 1) + turns[j], 58);
        return {
          label: `Hand ${j + 1} of every key`, text: `turned by ${Math.round(degrees(turns[j]))} degrees`, x: dials(j) + x, y: 72 + y, hit: [-x - 66, -y - 66, 132, 132],
          around: [dials(j), 72], value: turns[j], low: -TURN, high: TURN, step: 0.05,
          set: (to) => ({ turns: turns.map((old, i) => (i === j ? notched(to, SLOWER[j]) : old)) }),
        };
      }),
      {
        label: "The query", text: `position ${query}`, x: place(query), y: 428, value: query, low: 1, high: N - 1, step: 1, along: [21, 0],
        set: (t) => ({ query: Math.round(t) }),
      },
      { label: "For every position at once", press: () => ({ whole: !whole }), pressed: whole },
    ],
  };
}
