// Which patches of an image a head attends to, if hands count rows and columns.
{
  const SIDE = 60, MIDDLE = 240, STEPS = range(7).map((i) => i - 3);
  drawings.patches = {
    size: [600, 480],
    alt: "A grid of seven by seven patches, with most ink where the weights of a query in the middle are large. Two dotted frames, opposite to each other, are the patches that are wanted.",
    goal: "Drag a frame anywhere off the middle row and column. Can the head attend most to these two patches, and to no other?",
    reward: "<b>Hands along the diagonals.</b> Rows plus columns cannot do it at any place or speed: the opposite corners of a rectangle have the same sum.",
    start: { down: 1, right: 2, diagonals: false },
    view({ down, right, diagonals }) {
      const ways = [[1, 0], [0, 1], ...(diagonals ? [[1, 1], [1, -1]] : [])];
      const hands = [2, 1, 0.5].flatMap((speed) => ways.map(([y, x]) => [speed * y, speed * x]));
      const scores = STEPS.flatMap((y) => STEPS.map((x) => sum(hands.map(([a, b]) => 2 * Math.cos(a * y + b * x) * Math.cos(a * down + b * right)))));
      const weights = softmax(scores.map((score) => 3 * score)), best = highest(scores);
      const wanted = [...new Set([24 + 7 * down + right, 24 - 7 * down - right])], more = best.length - wanted.length;
      const place = (i) => [MIDDLE + SIDE * ((i % 7) - 3.5) + 60, MIDDLE + SIDE * (Math.floor(i / 7) - 3.5)];
      const named = [[down, "up", "down"], [right, "left", "right"]].flatMap(([k, back, on]) => (k ? [`${Math.abs(k)} ${k < 0 ? back : on}`] : []));
      return {
        svg: weights.map((weight, i) => `<g class="weight" opacity="${plain(Math.min(1, 2 * weight), 3)}">${box("cell", ...place(i), SIDE, SIDE)}</g>`).join("") +
          path("hair", range(8).map((i) => `M90 ${30 + SIDE * i}h420M${90 + SIDE * i} 30v420`).join("")) + circle("solid", 8, MIDDLE + 60, MIDDLE) +
          wanted.map((i) => box("wanted", ...place(i).map((x) => x + 4), SIDE - 8, SIDE - 8, 6)).join(""),
        sentence: `Wanted: ${named.length ? [...named, "and the opposite"].join(", ") : "the patch itself"}. Highest: ${more > 0 ? `${best.length} patches, ${more} too many` : "no other"}. Weight on those wanted: ${fixed(sum(wanted.map((i) => weights[i])))}.`,
        reached: Boolean(down && right) && more === 0 && best.every((i) => wanted.includes(i)),
      };
    },
    handles: ({ down, right, diagonals }) => [
      ...[1, -1].map((side) => ({
        label: `${side > 0 ? "A frame" : "The opposite frame"}: rows and columns from the middle`, text: `${minus(side * right)} right, ${minus(side * down)} down`,
        x: MIDDLE + 60 + SIDE * side * right, y: MIDDLE + SIDE * side * down, value: side * right, low: -3, high: 3, step: 1, along: [SIDE, 0],
        set: (to) => ({ right: side * Math.round(to) + 0 }),
        up: { value: side * down, low: -3, high: 3, step: -1, along: [0, SIDE], set: (to) => ({ down: side * Math.round(to) + 0 }) },
      })),
      { label: "Hands along the diagonals too", press: () => ({ diagonals: !diagonals }), pressed: diagonals },
    ],
  };
}
