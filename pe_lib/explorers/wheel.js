// A hand of one radian a position, its two shadows, and their past on paper.
{
  const R = 100, PAST = 0.021;  // radians per unit of paper
  drawings.wheel = {
    size: [600, 470],
    alt: "A clock hand on a dial. Its tip casts one shadow on a wall to the right, how far up it is, and one on the floor below, how far right it is. Paper runs past both shadows: the first draws a cosine in orange, the other a sine in blue.",
    goal: "Turn the hand, from twelve and clockwise, and watch its two shadows.",
    reward: "<b>One matrix moves sine and cosine on together;</b> no matrix moves the sine alone.",
    start: { turn: 0.9 },
    view({ turn }) {
      const x = 150 + R * Math.sin(turn), y = 140 - R * Math.cos(turn), ago = (t) => (turn - t) / PAST;
      const positions = range(8).map((i) => Math.floor(turn) - 7 + i).filter((t) => ago(t) <= 320);
      return {
        svg: path("edge", "M275 26V254M34 258H266") +
          path("cosine", line(range(107).map((i) => [275 + 3 * i, 140 - R * Math.cos(turn - 3 * PAST * i)]))) +
          path("sine", line(range(70).map((i) => [150 + R * Math.sin(turn - 3 * PAST * i), 258 + 3 * i]))) +
          positions.map((t) => circle("cosine dot", 4.5, 275 + ago(t), 140 - R * Math.cos(t)) +
            (ago(t) < 209 ? circle("sine dot", 4.5, 150 + R * Math.sin(t), 258 + ago(t)) : "")).join("") +
          path("cosine ray", `M${at(x, y)}H275`) + path("sine ray", `M${at(x, y)}V258`) +
          group(moved(150, 140), dial(R, turn, { legs: true })) +
          circle("cosine dot", 7, 275, y) + circle("sine dot", 7, x, 258),
        sentence: `Position ${fixed(turn, 1)}: sine ${fixed(Math.sin(turn))}, cosine ${fixed(Math.cos(turn))}.`,
        reached: Math.abs(turn - 0.9) > TURN,
      };
    },
    handles({ turn }) {
      const [x, y] = tip(turn, R);
      return [{
        label: "The hand", text: `position ${fixed(turn, 1)}`, x: 150 + x, y: 140 + y, hit: [-x - R - 8, -y - R - 8, 2 * R + 16, 2 * R + 16],
        around: [150, 140], value: turn, low: -20, high: 99, step: 0.1, set: (to) => ({ turn: to }),
      }];
    },
  };
}
