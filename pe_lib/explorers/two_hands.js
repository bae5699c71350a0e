// Two hands: how far away can the nearest position be kept?
drawings.two_hands = {
  size: [600, 540],
  alt: "Two dials with the hands of the position nearest to 0, dotted where they would equal those of position 0. Below, a jagged curve: the distance of the positions 1 to 99 from position 0, with a ring at its lowest point and a line at the height to reach.",
  goal: "Some position is always nearest to position 0. Choose the slow hand so that even this one is as far away as possible.",
  reward: "<b>At least 0.58.</b> Of all these frequencies only 0.39 keeps the other 99 positions so far away; 0.01 is not the best for 100 positions. In a longer text the nearest position is nearer.",
  start: { slow: 0.01 },
  view({ slow }) {
    const far = range(99).map((i) => Math.sqrt(Math.max(0, 4 - 2 * Math.cos(i + 1) - 2 * Math.cos(slow * (i + 1)))));
    const near = Math.min(...far), low = far.indexOf(near) + 1, place = (t) => [50 + 5 * t, 410 - 80 * far[t - 1]];
    return {
      svg: group(moved(150, 72), dial(60, low, { wanted: 0 })) + group(moved(450, 72), dial(60, slow * low, { wanted: 0 })) +
        text(150, 162, "1 radian per position", "count") + text(450, 162, `${fixed(slow)} radian per position`, "count") +
        path("edge", "M50 410H550") + path("aim", "M50 363.6H550") + text(492, 388, "goal: 0.58", "count") +
        path("curve", line(range(99).map((i) => place(i + 1)))) + circle("ring", 10, ...place(low)) +
        range(5).map((i) => text(50 + 125 * i, 438, 25 * i, "count")).join("") + text(24, 416, "0", "count") + text(24, 256, "2", "count") +
        path("edge", "M50 486H550") + text(50, 528, "0", "count") + text(300, 528, "frequency of the slow hand", "count") + text(550, 528, "1", "count"),
      sentence: `Position ${low} is the nearest to position 0, at a distance of ${fixed(near)}${near < 0.4 ? ": both hands are near twelve" : ""}.`,
      reached: near >= 0.58,
    };
  },
  handles: ({ slow }) => [{
    label: "Frequency of the slow hand", text: `${fixed(slow)} radian per position`, x: 50 + 500 * slow, y: 486,
    value: slow, low: 0.01, high: 0.99, step: 0.01, along: [500, 0], set: (to) => ({ slow: Math.round(100 * to) / 100 }),
  }],
};
