// Two trained layers (dial_model.js), computed here; a dial puts 30 T(k) into the first.
{
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_";
  const bytes = MODEL.levels.match(/..../g).flatMap((four) => {
    const n = [...four].reduce((all, letter) => 64 * all + LETTERS.indexOf(letter), 0);
    return [n >> 16, (n >> 8) & 255, n & 255];
  });
  let next = 0;
  const [E, U, W0, V0, W1, V1] = MODEL.scales.map((scale, i) =>
    range(i < 2 ? 128 : 32).map(() => range(32).map(() => scale * ((bytes[next++] << 24) >> 24))));
  const times = (A, B) => {
    const columns = B[0].map((_, j) => B.map((row) => row[j]));
    return A.map((row) => columns.map((column) => dot(row, column)));
  };
  const pairs = (A, W, B) => times(A, W).map((row) => B.map((other) => dot(row, other)));
  const plus = (A, B) => A.map((row, t) => row.map((x, i) => x + B[t][i]));
  const masked = (A) => A.map((row, t) => [...softmax(row.slice(0, t + 1)), ...range(31 - t).fill(0)]);
  const SPEEDS = frequencies(16), P = range(32).map((t) => SPEEDS.flatMap((w) => [Math.sin(w * t), Math.cos(w * t)]));
  const codes = pairs(P, W0, P);
  // The weights of both layers, and for a position how likely each word comes next.
  const read = (words, k) => {
    let x = plus(words.map((word) => E[word]), P), scores = pairs(x, W0, x);
    if (k !== null)
      scores = scores.map((row, t) => row.map((score, s) => score - codes[t][s] + 30 * sum(SPEEDS.map((w) => Math.cos(w * (t - s - k))))));
    const first = masked(scores);
    x = plus(x, times(first, times(x, V0)));
    const second = masked(pairs(x, W1, x));
    x = plus(x, times(second, times(x, V1)));
    return [first, second, (t) => softmax(U.map((row) => dot(row, x[t])))];
  };
  const top = (row) => row.indexOf(Math.max(...row));
  const before = (words, t) => words.slice(0, t).indexOf(words[t]);
  const column = (s) => 206 + 12 * s, R = 56;

  // Words in any order, of which five to eight come twice.
  const another = () => {
    const pool = range(128).map((word) => [Math.random(), word]).toSorted((a, b) => a[0] - b[0]).map(([, word]) => word);
    const any = (n) => Math.floor(n * Math.random()), size = 5 + any(4), from = any(8), again = from + size + 2 + any(30 - from - 2 * size);
    return { words: range(32).map((t) => pool[t >= again && t < again + size ? t - again + from : t]), position: again + 1 };
  };

  drawings.dial = {
    size: [600, 630],
    alt: "A text of 32 words, in which one asks and one is attended to by the second layer. Below are a knob, set to k, and two rows of bars, one for each word: the weights of the second layer from the word that asks, and those of the first layer from the word that it attends to.",
    goal: "Make it skip two words: after Tuesday it should predict Friday.",
    reward: "<b>Three after the match.</b> Nobody trained it to. You changed one matrix, and nearly every word that asks is answered so. Try other words, and other texts.",
    start: { words: MODEL.text, k: null, position: 23 },
    view({ words, k, position: t }) {
      const name = (s) => MODEL.vocabulary[words[s]], after = k ?? 1, [first, second, odds] = read(words, k);
      const seen = top(second[t]), brought = top(first[seen]), chances = odds(t), named = top(chances), match = before(words, t);
      const asked = range(32).filter((q) => before(words, q) >= 0), off = words.indexOf(named) - match;
      const right = asked.filter((q) => top(odds(q)) === words[before(words, q) + after]).length;
      const written = range(32).map((s) => {
        const x = 75 + 150 * (s % 4), y = 26 + 35 * Math.floor(s / 4);
        return (s === t ? box("on", x - 66, y - 24, 132, 32, 8) : s === seen ? box("tile over", x - 66, y - 24, 132, 32, 8) : "") + text(x, y, name(s), s === t ? "inside" : "word");
      });
      const bars = (y, row, who, says) => text(200, y - 92, says, "label") + path("edge", `M200 ${y}H584`) +
        row.map((w, s) => box(s === who ? "best" : "score", column(s) - 4, y - 76 * w, 8, 76 * w)).join("");
      const marks = range(5).map((i) => {
        const [x, y] = tip(i, 1);
        return path("edge", `M${at(R * x, R * y)}L${at((R + 10) * x, (R + 10) * y)}`) + text((R + 27) * x, (R + 27) * y + 7, i, "count");
      });
      return {
        svg: written.join("") + group(moved(96, 446), ...marks, circle("face", R), group(turned(after), path("ink", `M0 0V${16 - R}`))) +
          bars(414, second[t], seen, `layer 2: ${name(t)} → ${name(seen)}`) + bars(546, first[seen], brought, `layer 1: ${name(seen)} → ${name(brought)}`) +
          path("edge", `M${column(0)} 590H${column(31)}`) + text(96, 597, "word that asks", "count"),
        sentence: `${k === null ? "As trained" : `With T(${k})`}: after ${name(t)} the model names ${MODEL.vocabulary[named]}` +
          (match < 0 ? `. ${name(t)} has not stood here before.` : !off ? ", the match itself." : off > 0 ? `, ${off} after the match.` : ", which does not stand after the match.") +
          ` It is ${Math.round(100 * chances[named])} % sure. ${right} of ${asked.length} answers are ${after} after the match.`,
        reached: match >= 0 && named === words[match + 3],
      };
    },
    handles({ words, k, position }) {
      return [
        {
          ...knob(96, 446, R, k ?? 1, 24), label: "The dial, k", text: k === null ? "as trained" : `T(${k})`, low: 0, high: 4, step: 1, set: (to) => ({ k: Math.round(to) }),
        },
        {
          label: "The word that asks", text: `${MODEL.vocabulary[words[position]]}, position ${position}`, x: column(position), y: 590, value: position, low: 0, high: 31, step: 1, along: [12, 0],
          set: (t) => ({ position: Math.round(t) }),
        },
        { label: "Another text", press: another },
      ];
    },
  };
}
