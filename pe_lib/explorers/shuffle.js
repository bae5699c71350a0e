// Attention without positions: each word's new vector goes along with it.
{
  const VECTORS = { New: [1, 0], York: [1, 1], beats: [0, -1], old: [-1, 1] };
  // The new vector of each word, and the weights of the last York, with the words at these places.
  const attend = (places, codes) => {
    const X = WORDS.map((word, i) => [VECTORS[word][0] + (codes ? 0.1 * places[i] : 0), VECTORS[word][1]]);
    const weights = X.map((q) => softmax(X.map((k) => dot(q, k))));
    return [weights.map((row) => [0, 1].map((c) => sum(row.map((w, s) => w * X[s][c])))), weights[4]];
  };
  // What a word got. The two Yorks are one word: they have the same vectors together, or not.
  const got = (rows, word) => rows.filter((_, i) => WORDS[i] === word).map((row) => row.map((x) => plain(x, 9)).join()).toSorted().join(";");
  // A word is a bare arrow; a position is a hand on a dial.
  const bare = (x, y) => {
    const long = Math.hypot(x, y) || 1, [u, v] = [(9 * x) / long, (9 * y) / long];
    return `M0 116L${at(x, 116 + y)}M${at(x - u + 0.6 * v, 116 + y - v - 0.6 * u)}L${at(x, 116 + y)}L${at(x - u - 0.6 * v, 116 + y - v + 0.6 * u)}`;
  };
  const order = (places) => range(5).map((t) => places.indexOf(t));

  drawings.shuffle = {
    size: [600, 430],
    alt: "Five words on tiles. Threads lead from the last York to each word, thicker where its attention weight is larger. Below each tile are an arrow and two numbers, the vector that attention gives to this word.",
    goal: "Swap words until the numbers of a word change.",
    reward: "<b>It took the positions.</b> Without them, each of the 60 orders gives every word the same new vector, because attention alone does not see the order.",
    start: { places: [0, 1, 2, 3, 4], codes: false },
    view({ places, codes, held }) {
      const [rows, weights] = attend(places, codes), [first] = attend(range(5), codes);
      const changed = WORDS.filter((word) => got(rows, word) !== got(first, word)).length;
      const threads = WORDS.map((_, i) => path("thread", thread(seat(places[4]), seat(places[i]), 172), ` stroke-width="${f(1 + 26 * weights[i])}"`));
      const over = held === undefined ? -1 : places.findIndex((x, i) => i !== held && x === Math.round(places[held]));
      const tiles = WORDS.map((word, i) => {
        const [x, y] = rows[i].map((v) => 44 * v);
        return group(
          moved(seat(places[i]), i === held ? 196 : 202),
          box(i === over ? "tile over" : "tile", -52, -30, 104, 90, 10),
          text(0, 2, word),
          path("ink", bare(x, -y)),
          ...rows[i].map((v, c) => text(0, 190 + 26 * c, fixed(v), "count")),
        );
      });
      if (held !== undefined) tiles.push(...tiles.splice(held, 1));
      const words = order(places).includes(-1) ? "" : `${order(places).map((i) => WORDS[i]).join(" ")}. `;
      return { svg: threads.join("") + tiles.join(""), sentence: `${words}Vectors that changed: ${changed}.`, reached: changed > 0 };
    },
    handles: ({ places, codes }) => [
      ...WORDS.map((word, i) => ({
        label: `${word}, a tile`, text: `position ${places[i]}`, x: seat(places[i]), y: 236, hit: [-52, -64, 104, 90],
        value: places[i], low: 0, high: 4, step: 1, along: [120, 0],
        set: (place) => ({ places: places.map((x, n) => (n === i ? place : x)) }),
        // It changes places with the word that is there.
        rest(now, before) {
          const to = Math.round(now.places[i]);
          return { places: before.places.map((x, n) => (n === i ? to : x === to ? before.places[i] : x)) };
        },
      })),
      { label: "Add the positions", press: () => ({ codes: !codes }), pressed: codes },
    ],
  };
}
