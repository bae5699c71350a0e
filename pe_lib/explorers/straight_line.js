// Positions as numbers: the scores of a query lie on a straight line, a spirit level.
{
  const REACH = 240, OLD = seat(3) - 300;
  const height = ({ left, right }, i) => mix(left, right, (seat(i) - 38) / 524);
  const tilt = ({ left, right }) => Math.atan2(70 * (left - right), 524);
  drawings.straight_line = {
    size: [600, 390],
    alt: "A spirit level lies across the five words, numbered 0 to 4. Its height at a word is the score of this word for the last York. Its bubble runs to the higher end, and not to the dotted line at old.",
    goal: "York at 4 should attend to old: lift an end, and let the bubble rest at old.",
    reward: "<b>It never rests at old: that is the law.</b> The five scores lie on one straight line, whatever its slope and height. A straight line is highest at an end, unless it is flat, and old is inside.",
    start: { left: 0.45, right: -0.45, x: -REACH, v: 0, passes: 0 },
    view(state) {
      const best = highest(range(5).map((i) => height(state, i))), { x, v, passes } = state;
      const glass = box("glass", -284, -22, 568, 44, 22) + group(moved(x, 0), '<ellipse class="bubble" rx="27" ry="15"/>');
      return {
        svg: WORDS.map((word, i) => path(i === 3 ? "aim" : "hair", `M${seat(i)} 90V312`) + text(seat(i), 344, word, i === 3 ? "word aimed" : "word") + text(seat(i), 374, i, "count")).join("") +
          [["left", 38], ["right", 562]].map(([end, x]) => path("edge", `M${x} ${f(178 - 70 * state[end])}v-38`)).join("") +
          group(`${moved(300, 200 - 35 * (state.left + state.right))} ${turned(tilt(state))}`, glass) +
          range(5).map((i) => circle(best.includes(i) ? "best" : "score", 6, seat(i), 200 - 70 * height(state, i))).join(""),
        sentence: v ? `The bubble passes ${WORDS[within(0, Math.round((x + 240) / 120), 4)]}.`
          : best.length > 1 ? "Level: all five scores are equal, so York attends to all words alike."
          : `York attends most to ${WORDS[best[0]]} at ${best[0]}: an end.`,
        reached: passes > 0,
      };
    },
    handles: ({ left, right }) => [["left", 38, left, right], ["right", 562, right, left]].map(([end, x, mine, other]) => ({
      label: `The ${end} end`, text: `height ${fixed(mine)}`, x, y: 140 - 70 * mine, value: mine, low: -1, high: 1, step: 0.1, along: [0, -70],
      set: (to) => ({ [end]: Math.abs(to - other) < 0.04 ? other : to }),
    })),
    // The bubble: its speed is in units per second.
    tick({ x, v, passes, ...state }, seconds) {
      const slope = tilt(state), at = REACH * -Math.sign(slope);
      if (!v && (slope ? x === at : true)) return undefined;
      let faster = (v - 8300 * slope * seconds) * Math.exp(-2.45 * seconds), next = x + faster * seconds;
      if (Math.abs(next) >= REACH) {
        next = REACH * Math.sign(next);
        faster = Math.abs(faster) < 120 ? 0 : -0.3 * faster;
      } else if (!slope && Math.abs(faster) < 12) faster = 0;
      return { ...state, x: next, v: faster, passes: passes + ((x - OLD) * (next - OLD) < 0) };
    },
  };
}
