// A column of six hands under each word of a song: the field of the first page.
{
  const SONG = "Row row row your boat gently down the stream merrily merrily merrily merrily life is but a dream".split(" ");
  const SPEEDS = frequencies(6, 50);
  // The words in a heap: where each lies, and how it is turned.
  const HEAP = SONG.map((_, i) => {
    const any = (n) => ((i * n * 0.618034) % 1) - 0.5;
    return [594 + 760 * (((i * 7) % 18) / 17 - 0.5) + 60 * any(3), 90 + 44 * ((i * 5) % 6) + 16 * any(5), 60 * any(11)];
  });
  // At so many seconds after it was asked for: how far the words are scattered, and the hands drawn.
  const PLAYED = 3.4;
  const scattered = (time) => within(0, Math.min(time / 0.8, (3 - time) / 1.2), 1);
  const grown = (time) => (time < 0.8 ? 1 : within(0, (time - 2.1) / 1.2, 1));

  drawings.hero = {
    size: [1188, 402],
    alt: "Eighteen words of a song in a row; merrily occurs four times. Below each word is a column of six clock hands, its positional encoding: the upper hands turn fast from word to word, the lower ones slowly.",
    goal: "Drag the field: each row of hands turns at a speed of its own.",
    reward: "",
    start: { moved_by: 0, time: PLAYED },
    view({ moved_by, time }) {
      const same = time > 0.8 && time < 1.8, heap = time < 2.1 && time > 0.4, there = grown(time);
      const columns = SONG.map((word, i) => {
        const [x, y, angle] = HEAP[i], q = ease(within(0, 1.6 * scattered(time) - (0.6 * i) / 18, 1));
        const lies = q ? ` rotate(${f(angle * q)}) scale(${plain(1 + 0.9 * q, 2)})` : "";
        return group(moved(mix(33 + 66 * i, x, q), 0),
          group(moved(0, mix(40, y, q)) + lies, text(0, 0, word, same && i > 8 && i < 13 ? "word aimed" : "word")),
          ...SPEEDS.map((speed, j) => {
            const angle = speed * (i + moved_by), s = Math.max(0, Math.sin(angle)), c = Math.max(0, Math.cos(angle));
            const tint = `--share: ${f((100 * c) / (s + c || 1))}%; opacity: ${plain(0.75 * Math.max(s, c), 2)}`;
            return `<g transform="${moved(0, 80 + 51 * j)}" opacity="${plain(within(0, 8 * there - j, 1) * (1 - q), 2)}">${circle("face", 22.5)}<circle class="tint" r="22.5" style="${tint}"/>${group(turned(angle), hand(19.5, 3.4))}</g>`;
          }));
      });
      const turns = (j) => fixed(degrees(moved_by * SPEEDS[j]), 0), by = Math.abs(moved_by);
      return {
        svg: columns.join(""),
        sentence: same ? "Four times merrily: which is which?"
          : heap ? "The words in a heap: nothing tells their order."
          : by < 0.05 ? "From word to word each row of hands turns, at a speed of its own."
          : by === Math.round(by) ? `To move on is to rotate: each word now has the positional encoding from ${count(by, "position")} ${moved_by > 0 ? "later" : "earlier"}.`
          : `Moved ${moved_by < 0 ? "back" : "on"} by ${fixed(by, 1)} positions: the top hands have turned by ${turns(0)}°, the last ones by ${turns(5)}°, under every word alike.`,
        reached: false,
      };
    },
    handles: ({ moved_by }) => [
      {
        label: "The field of hands", text: `moved by ${fixed(moved_by, 1)} positions`, x: 165, y: 378, hit: [-165, -378, 1188, 402], pans: true,
        value: moved_by, low: -99, high: 99, step: 1, along: [-66, 0], set: (to) => ({ moved_by: to, time: PLAYED }), rest: (now) => ({ moved_by: Math.round(now.moved_by) }),
      },
      { label: "Shuffle", press: () => ({ time: 0 }) },
    ],
    tick: ({ time, ...state }, seconds) => (time < PLAYED ? { ...state, time: Math.min(PLAYED, time + seconds) } : undefined),
  };
}
