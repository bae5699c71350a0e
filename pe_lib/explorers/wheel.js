// A hand of one radian a position, its two shadows, and their past on paper.
{
  const R = 100, PAST = 0.021;  // radians per unit of paper
  drawings.wheel = {
    size: [600, 470],
    alt: "A clock hand on a dial. Its tip casts one shadow on a wall to the right, how far up it is, and one on the floor below, how far right it is. Paper runs past both shadows: the first draws a cosine in orange, the other a sine in blue.",
    goal: "Turn the hand, and watch its two shadows. Then keep the sine alone: where does it go next?",
    reward: "<b>Two hands, one sine, and two ways on:</b> no matrix moves the sine alone. With the cosine, one does.",
    start: { turn: 0.9, alone: false },
    view({ turn, alone }) {
      const x = 150 + R * Math.sin(turn), y = 140 - R * Math.cos(turn), ago = (t) => (turn - t) / PAST;
      const positions = range(8).map((i) => Math.floor(turn) - 7 + i).filter((t) => ago(t) <= 320);
      // Another hand has the same sine; one position on, the two differ.
      const other = Math.PI - turn, next = [turn, other].map((angle) => Math.sin(angle + 1));
      const [ox, oy] = tip(other, R), ahead = (angle) => group(moved(150, 140), group(turned(angle + 1), path("aim", `M0 0V${-R}`)));
      const both = ahead(turn) + ahead(other) + group(moved(150, 140), path("pale", `M0 0L${at(ox, oy)}`)) + next.map((sine) => circle("ring", 9, 150 + R * sine, 258)).join("");
      return {
        svg: path("edge", alone ? "M34 258H266" : "M275 26V254M34 258H266") + (alone ? "" : path("cosine", line(range(107).map((i) => [275 + 3 * i, 140 - R * Math.cos(turn - 3 * PAST * i)])))) +
          path("sine", line(range(70).map((i) => [150 + R * Math.sin(turn - 3 * PAST * i), 258 + 3 * i]))) +
          positions.map((t) => (alone ? "" : circle("cosine dot", 4.5, 275 + ago(t), 140 - R * Math.cos(t))) +
            (ago(t) < 209 ? circle("sine dot", 4.5, 150 + R * Math.sin(t), 258 + ago(t)) : "")).join("") +
          (alone ? "" : path("cosine ray", `M${at(x, y)}H275`)) + path("sine ray", `M${at(x, y)}V258`) +
          group(moved(150, 140), dial(R, turn, { legs: !alone })) + (alone ? both : "") +
          (alone ? "" : circle("cosine dot", 7, 275, y)) + circle("sine dot", 7, x, 258),
        sentence: alone ? `Sine ${fixed(Math.sin(turn))}. One position on it is ${fixed(next[0])} for this hand, ${fixed(next[1])} for the pale one.`
          : `Position ${fixed(turn, 1)}: sine ${fixed(Math.sin(turn))}, cosine ${fixed(Math.cos(turn))}.`,
        reached: alone && Math.abs(next[0] - next[1]) > 0.3,
      };
    },
    handles: ({ turn, alone }) => [
      { ...knob(150, 140, R, turn, 8), label: "The hand", text: `position ${fixed(turn, 1)}`, low: -20, high: 99, step: 0.1, set: (to) => ({ turn: to }) },
      { label: "Keep the sine alone", pressed: alone, press: () => ({ alone: !alone }) },
    ],
  };
}
