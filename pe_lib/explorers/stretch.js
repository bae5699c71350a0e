// Extend a RoPE head: which hands meet new angles, and do neighbours stay apart?
{
  const RULES = { none: "as is", interpolate: "interpolation", ntk: "NTK", yarn: "YaRN", llama3: "Llama 3.1" };
  const FACTORS = [1, 2, 4, 8, 16, 32], BASES = [100, 10000, 500000, 1000000], LENGTHS = [64, 512, 4096, 8192];
  // The new frequency of each hand over the old, and how often it came round in training.
  const scaled = ({ rule, factor: s, base, trained_length }) => {
    const old = frequencies(64, base), turns = old.map((w) => (w * trained_length) / TURN);
    const parts = (fast) => (j) => {
      const keep = within(0, (turns[j] - 1) / (fast - 1), 1);
      return keep + (1 - keep) / s;
    };
    const rules = { none: () => 1, interpolate: () => 1 / s, ntk: (j) => s ** (-j / 63), yarn: parts(32), llama3: parts(4) };
    return [old, turns, range(64).map(rules[rule])];
  };
  // A line with stops, and the handle that goes along it.
  const names = (values) => values.map((value) => value.toLocaleString("en"));
  const stops = (y, names, label) => text(60, y - 32, label, "label") + path("edge", `M60 ${y}h480`) + names.map((name, i) => {
    const x = 60 + (480 / (names.length - 1)) * i;
    return path("edge", `M${at(x, y - 5)}v10`) + text(x, y + 44, name, "count");
  }).join("");
  const stop = (y, values, names, value, label, key) => {
    const i = values.indexOf(value), by = 480 / (values.length - 1);
    return {
      label, text: names[i], x: 60 + by * i, y, hit: [-30 - by * i, -36, 540, 72], value: i, low: 0, high: values.length - 1, step: 1,
      along: [by, 0], from: [60, y], set: (to) => ({ [key]: values[Math.round(to)] }),
    };
  };
  const x = (j) => 56 + 7.8 * j, up = (y, times) => y - 26 * Math.log2(times);
  drawings.stretch = {
    size: [600, 666],
    alt: "Two panels over 64 hands, fast ones on the left. Above, a stem for each slow hand: how far it goes, relative to its largest angle in training. Below, a line: its new frequency over the old. Under them are three lines with stops, for rule, base and context length.",
    goal: "Read a sequence eight times as long as any in training: no hand at a new angle, and at least 90 % of the score’s gap to the neighbouring position.",
    reward: "<b>No new angle, and neighbours as far apart as before.</b> Of these rules only the two by parts get here, with a factor of 8 or more; YaRN needs a context in which some hand turns 32 times. Now try NTK-aware with a factor of 32.",
    start: { rule: "none", factor: 8, base: 10000, trained_length: 4096 },
    view(state) {
      const [old, turns, shares] = scaled(state), slow = range(64).filter((j) => turns[j] < 1), reach = slow.map((j) => 8 * shares[j]);
      const gap = (speeds) => sum(speeds.map((w) => 1 - Math.cos(w))), share = gap(old.map((w, j) => w * shares[j])) / gap(old);
      const far = Math.max(0, ...reach), unseen = reach.filter((r) => r > 1 + 1e-9).length;
      const scale = [["8", 30], ["1", 108], ["¼", 160], ["1", 214], ["⅛", 292], ["1/32", 344]];
      return {
        svg: scale.map(([name, y]) => text(26, y + 7, name, "count") + path("hair", `M54 ${y}H556`)).join("") +
          text(60, 20, "largest angle / in training", "label") + text(60, 204, "new frequency / old", "label") +
          path("aim", `M${f(x(63.5 - slow.length))} 24V344`) +
          reach.map((r, i) => path(r > 1 + 1e-9 ? "unseen" : "stem", `M${at(x(slow[i]), 108)}V${f(up(108, r))}`)).join("") +
          path("curve", line(shares.map((r, j) => [x(j), up(214, r)]))) +
          stops(416, Object.values(RULES), "rule") + stops(516, names(BASES), "base of the trained model") + stops(616, names(LENGTHS), "its context length, L"),
        sentence: `Factor ${state.factor}. ${!slow.length ? "Every hand came round in training."
          : !unseen ? "No hand goes beyond the angles of training."
          : `New angles for ${unseen} of ${slow.length} slow hands, up to ${fixed(far, 1)} times too far.`} The neighbour keeps ${fixed(100 * share, 0)} % of its gap.`,
        reached: slow.length > 0 && !unseen && share >= 0.9,
      };
    },
    handles(state) {
      const { rule, factor, base, trained_length } = state, end = scaled(state)[2][63], i = FACTORS.indexOf(factor);
      return [
        {
          label: "Factor, at the end of the lower line", text: `factor ${factor}`, x: x(63), y: up(214, end), value: i, low: 0, high: 5, step: 1, along: [0, 26],
          set: (to) => ({ factor: FACTORS[Math.round(to)], rule: rule === "none" ? "interpolate" : rule }),
        },
        stop(416, Object.keys(RULES), Object.values(RULES), rule, "Rule", "rule"), stop(516, BASES, names(BASES), base, "Base", "base"),
        stop(616, LENGTHS, names(LENGTHS), trained_length, "Context length, L", "trained_length"),
      ];
    },
  };
}
