// A language model whose heads are rotated: its stored answers (skip_answers.js).
{
  const LINES = ["The old king gave seven golden", "apples to his youngest daughter", "before the first snow of winter", "fell on the silent town"].map((one) => one.split(" "));
  const SENTENCE = LINES.flat(), CALLED = { four: "four heads", twenty: "twenty heads" }, R = 78;
  const written = (tokens) => tokens.map(([token]) => token).join("").trim();
  // To the first full stop or new line.
  const told = (tokens) => {
    const [first] = written(tokens).split("\n"), stop = first.indexOf(".");
    return stop < 0 ? `${first} ...` : first.slice(0, stop + 1);
  };
  // How the answer goes through the sentence that the model had read.
  const kinds = (answer) => {
    const found = SENTENCE.map(() => "later");
    let last = 0;
    for (const word of answer.replaceAll(".", "").split(" ")) {
      const there = SENTENCE.indexOf(word, last + 1);
      if (there < 0) continue;
      found.fill("skipped", last + 1, there);
      found[(last = there)] = "written";
    }
    return found;
  };

  drawings.skip = {
    size: [600, 470],
    alt: "A sentence of 22 words in four lines: The old king gave seven golden apples to his youngest daughter before the first snow of winter fell on the silent town. Words that the model skips are crossed out. Below are a knob, set to a number of positions, and bars: the probability of each token that the model wrote.",
    goal: "Turn its heads back until it skips the first word, old.",
    reward: "<b>king comes first.</b> The model was never trained to skip. In this sentence the first word changes between a half and three quarters of a position.",
    start: { heads: "four", quarters: 0 },
    view({ heads, quarters }) {
      const step = Math.round(quarters), tokens = ANSWERS[heads][step], answer = told(tokens), kind = kinds(answer);
      let n = 0;
      const lines = LINES.map((words, i) =>
        text(300, 40 + 42 * i, words.map((word) => `<tspan class="${kind[n++]}">${word}</tspan>`).join(" "), "later"));
      const marks = range(9).map((q) => {
        const [x, y] = tip(q / 4, 1), long = q % 4 ? R + 10 : R + 18;
        return path("edge", `M${at(R * x, R * y)}L${at(long * x, long * y)}`) + (q % 4 ? "" : text((R + 36) * x, (R + 36) * y + 6, q / 4, "count"));
      });
      return {
        svg: lines.join("") + group(moved(150, 370), ...marks, circle("face", R), group(turned(quarters / 4), path("ink", `M0 0V${20 - R}`))) +
          text(150, 240, CALLED[heads], "count") + text(290, 240, "probability of each token", "label") + tokens.map(([, chance], i) => box("score", 292 + 18 * i, 440 - 170 * chance, 13, 170 * chance)).join("") +
          path("edge", "M286 440H586"),
        sentence: `Stored answer, ${step ? `${CALLED[heads]} turned back by ${step / 4}` : "as trained"}: ${answer}`,
        reached: answer.startsWith("king"),
      };
    },
    handles({ heads, quarters }) {
      return [
        {
          ...knob(150, 370, R, quarters / 4, 26), label: "The turn of the heads", text: `back by ${Math.round(quarters) / 4} positions`,
          low: 0, high: 2, step: 0.25, set: (angle) => ({ quarters: 4 * angle }), rest: (now) => ({ quarters: Math.round(now.quarters) }),
        },
        { label: "Twenty heads like them", press: () => ({ heads: heads === "four" ? "twenty" : "four" }), pressed: heads === "twenty" },
      ];
    },
  };
}
