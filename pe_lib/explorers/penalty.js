// A distance penalty that comes round: a head's mean score, and how much it lets in.
{
  // Of each pair what a mean query and a mean key of the head add, a complex number; by
  // gap its attention on far keys: smollm_means.csv and smollm_gap_heads.csv (book/beyond/data).
  const MEANS = [
    [0.164, -0.045], [0.361, -0.182], [0.061, -0.027], [0.5, -0.116], [0.245, 0.154], [0.647,
    0.044], [0.082, 0.118], [1.146, 0.47], [0.153, 0.3], [0.085, -0.022], [1.262, 0.634], [-0.056,
    0.1], [0.608, 0.637], [0.089, 0.012], [0.137, -0.033], [0.566, 0.871], [-0.476, 0.343],
    [0.134, -0.315], [0.014, -0.009], [0.513, 4.719], [0.041, -0.063], [-0.088, 0.024], [2.184,
    8.4], [-0.024, -0.012], [0.005, 0.001], [-0.001, -0.034], [-0.093, 0.009], [0.058, -0.078],
    [-3.152, 2.282], [0.049, -0.016], [-0.005, 0.009], [-2.934, 1.425],
  ];
  const MEASURED = [
    [0, 0.017], [2048, 0.013], [4096, 0.004], [5888, 0], [6912, 0.027], [7936, 0.846], [8960,
    0.991], [9984, 0.999], [11264, 0.94], [13312, 0.988], [16384, 0.53], [20480, 0.011], [24576,
    0.577], [28672, 0.999], [32768, 1],
  ];
  const INSIDE = 0.00013, CONTEXT = 8192, MIDDLE = 1152, MOST = 33920, SLOW = 22;
  const omega = frequencies(32, 100000), angle = (j, offset) => Math.atan2(MEANS[j][1], MEANS[j][0]) + omega[j] * offset;
  const part = (j, offset) => Math.hypot(...MEANS[j]) * Math.cos(angle(j, offset));
  const score = (offset) => sum(range(32).map((j) => part(j, offset)));
  // Far keys are 1 to 2,303 positions and a gap away; so often does each offset occur.
  const near = range(72).map((i) => 1 + 32 * i), often = near.map((k) => Math.min(k, 2304 - k, 768));
  const weight = (gap) => sum(near.map((k, i) => often[i] * Math.exp(score(k + gap))));
  const was = weight(5888), share = (gap) => {
    const odds = (INSIDE / (1 - INSIDE)) * (weight(gap) / was);
    return odds / (1 + odds);
  };
  const GAPS = range(128).map((i) => 256 * i), x = (offset) => 50 + offset / 68, up = (m) => 246 - 5 * m, low = (p) => 530 - 110 * p;
  let curves;  // the same in every state
  const drawn = () => (curves ??= [
    path("missed", line(range(340).map((i) => 1 + 99 * i).map((k) => [x(k), up(score(k) - score(1))]))),
    path("curve", line(range(340).map((i) => 1 + 99 * i).map((k) => [x(k), up(part(SLOW, k) - part(SLOW, 1))]))),
    path("curve", line(GAPS.map((gap) => [x(gap + MIDDLE), low(share(gap))]))),
    MEASURED.map(([gap, p]) => circle("solid", 6, x(gap + MIDDLE), low(p))).join(""),
  ].join(""));
  drawings.penalty = {
    size: [600, 650],
    alt: "Above on the right the hand of one pair. Below it the mean score of a key by its distance, a ragged line, and a bold wave, the part of this pair; the trained distances are shaded. At the bottom how much the head attends to keys that far away, as predicted, a line, and as measured, dots. An upright line marks one distance.",
    goal: "A head of SmolLM2, in a 4-bit copy: move the far keys away. Where does it let them in, and where does it keep them out again?",
    reward: "<b>Kept out again, far beyond all training.</b> The hand has come round, and is down once more. Nobody taught the model this distance.",
    start: { distance: 5248 },
    view({ distance }) {
      const p = share(distance - MIDDLE), [, measured] = MEASURED.find(([gap]) => gap === distance - MIDDLE) ?? [];
      return {
        svg: box("stays", x(0), 10, x(CONTEXT) - x(0), 520) + text(x(0) + 10, 36, "trained", "label") + path("edge", "M50 246H550M50 530H550M50 420H550") +
          drawn() + path("aim", `M${f(x(distance))} 130V530`) + group(moved(470, 64), dial(54, angle(SLOW, distance), { legs: true })) +
          text(206, 46, "pair 22, the bold line:", "label") + text(206, 72, "up lets far keys in", "label") + text(206, 160, "mean score", "label") +
          text(60, 404, "attention on far keys", "label") + text(30, 427, "1", "count") + text(30, 537, "0", "count") + text(30, 253, "0", "count") +
          range(5).map((i) => text(x(i * CONTEXT), 560, i, "count")).join("") + text(300, 632, "distance, in trained contexts", "count"),
        sentence: `Keys about ${distance.toLocaleString("en")} positions away, ${fixed(distance / CONTEXT, 1)} contexts: predicted attention ${fixed(p)}${measured === undefined ? "" : `, measured ${fixed(measured)}`}.`,
        reached: distance > 2 * CONTEXT && p < 0.1,
      };
    },
    handles: ({ distance }) => [{
      label: "Distance of the far keys", text: `${distance.toLocaleString("en")} positions`, x: x(distance), y: 590, value: distance, low: MIDDLE, high: MOST, step: 256,
      along: [1 / 68, 0], set: (to) => ({ distance: MIDDLE + 256 * Math.round((to - MIDDLE) / 256) }),
    }],
  };
}
