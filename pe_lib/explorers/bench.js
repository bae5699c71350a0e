// The bench: one instrument for the eight pages of the path. Five words stand in a column,
// each with its glyph in this page's encoding; a head that was made at five words draws an
// arrow from each word to the one that it attends to most; and the text is stretched.
// Every arrow comes from the scores P_t . W P_s of the numbers below.
{
  const MADE = WORDS.length, DIGITS = 6, TABLE = 2048, STARTS = [0, 1, 5, 483, 2040, 2044];
  const NAMES = ["none", "counting", "normalised", "binary", "dials", "formula", "rotation", "module"];
  const LAMPS = ["unique", "equal norm", "shift matrix"];

  // Encodings: a row per position. Between dials and formula the frequencies glide.
  const DIALS = range(3).map((j) => TURN / 2 ** (j + 1)), FORMULA = frequencies(3);
  const named = ({ page }) => NAMES[page > 4 && page < 5 ? 5 : Math.round(page)];
  const speedsOf = ({ page }) => DIALS.map((w, j) => w ** (1 - within(0, page - 4, 1)) * FORMULA[j] ** within(0, page - 4, 1));
  const bits = (t) => range(DIGITS).map((j) => 2 * ((t >> j) & 1) - 1);
  const hands = (speeds, t) => speeds.flatMap((w) => [Math.sin(w * t), Math.cos(w * t)]);
  const ENCODINGS = {
    none: () => [1],
    counting: (t, { squared }) => (squared ? [t, t * t, 1] : [t, 1]),
    normalised: (t, { words }) => [t / (words - 1), (t / (words - 1)) ** 2, 1],
    binary: bits,
    dials: (t, state) => hands(speedsOf(state), t),
    formula: (t, state) => hands(speedsOf(state), t),
    rotation: (t) => hands(FORMULA, t),
    module: (t, { start }) => hands(FORMULA, STARTS[start] + t).map(Math.fround),
  };
  const table = (state) => range(state.words).map((t) => ENCODINGS[named(state)](t, state));

  // The matrix that takes each encoding to the next, or k on, in a text of five words.
  const times = (W, x) => W.map((row) => dot(row, x));
  const rotation = (speeds, k) => speeds.flatMap((w, j) => {
    const row = (a, b) => speeds.flatMap((_, i) => (i === j ? [a, b] : [0, 0])), sin = Math.sin(k * w), cos = Math.cos(k * w);
    return [row(cos, sin), row(-sin, cos)];
  });
  const QUARTER = 1 / (MADE - 1);  // of the text: one step of five words
  const stepOf = (state, k = 1) => ({
    none: () => [[1]],
    counting: () => (state.squared ? [[1, 0, 1], [2, 1, 1], [0, 0, 1]] : [[1, 1], [0, 1]]),
    normalised: () => [[1, 0, QUARTER], [2 * QUARTER, 1, QUARTER ** 2], [0, 0, 1]],
    binary: () => undefined,  // P0 - P1 - P2 + P3 = 0, but P1 - P2 - P3 + P4 is not
  }[named(state)]?.() ?? (named(state) === "binary" ? undefined : rotation(speedsOf(state), k)));

  // The head of least cross-entropy for one back, as fit_head of pe_lib has it, by Newton's
  // method: the loss is convex.
  const solved = (A, b) => {
    const M = A.map((row, i) => [...row, b[i]]);
    M.forEach((pivot, p) => M.forEach((row, i) => {
      if (i !== p) M[i] = row.map((x, c) => x - (row[p] / M[p][p]) * M[p][c]);
    }));
    return M.map((row, i) => row.at(-1) / row[i]);
  };
  const fitted = (P, penalty = 1e-4) => {
    const width = P[0].length, queries = range(P.length).slice(1);
    const pairs = queries.map((t) => P.map((key) => P[t].flatMap((x) => key.map((y) => x * y))));
    const loss = (w) => (penalty / 2) * dot(w, w) - sum(pairs.map((rows, i) => Math.log(softmax(rows.map((r) => dot(r, w)))[i]))) / queries.length;
    let w = Array(width ** 2).fill(0);
    for (let round = 0; round < 60; round++) {
      const slope = w.map((x) => penalty * x), bend = w.map((_, i) => w.map((__, j) => (i === j ? penalty : 0)));
      pairs.forEach((rows, i) => {
        const weights = softmax(rows.map((r) => dot(r, w)));
        const mean = w.map((_, c) => sum(rows.map((r, s) => weights[s] * r[c])));
        mean.forEach((m, c) => (slope[c] += (m - rows[i][c]) / queries.length));
        rows.forEach((r, s) => r.forEach((x, a) => r.forEach((y, b) => (bend[a][b] += (weights[s] * (x - mean[a]) * (y - mean[b])) / queries.length))));
      });
      if (Math.max(...slope.map(Math.abs)) < 1e-12) break;
      const way = solved(bend, slope), on = (part) => w.map((x, i) => x - part * way[i]);
      let part = 1;
      while (part > 1e-9 && loss(on(part)) > loss(w) - 1e-4 * part * dot(way, slope)) part /= 2;
      w = on(part);
    }
    return range(width).map((r) => w.slice(r * width, (r + 1) * width));
  };

  // The head of a page, made at five words, whatever the length is now.
  const near = (far, sharp) => [[2 * sharp, 0, 0], [0, 0, 0], [-2 * far * sharp, -sharp, 0]];  // -sharp (x_s - (x_t - far))^2, but for what all keys share
  const isFit = (state) => named(state) === "binary" || (named(state) === "formula" && state.free);
  const biased = (state) => table(state).map((row) => [...row, ...(isFit(state) ? [1] : [])]);
  const fits = {};
  const head = (state) => {
    const name = named(state);
    if (name === "normalised") return near(QUARTER, 5000);
    if (name === "counting" && state.squared) return near(1, 1);
    if (isFit(state)) return (fits[name] ??= fitted(biased({ ...state, words: MADE })));
    return stepOf(state, lagOf(state));
  };
  const lagOf = (state) => (named(state) === "rotation" ? state.k : 1);
  const weights = (state) => {
    const P = biased(state), W = head(state), keys = P.map((row) => times(W, row));
    return P.map((query) => softmax(keys.map((key) => dot(query, key))));
  };
  // A draw is a draw, as hit_rate of pe_lib counts.
  const attended = (all) => all.map((row) => {
    const top = Math.max(...row);
    return row.flatMap((w, s) => (w * (1 + 1e-9) >= top ? [s] : []));
  });
  // Which lamps are lit: none before positions are told apart at all.
  const lampsOf = (state) => {
    const P = table(state), W = stepOf(state), norms = P.map((row) => Math.hypot(...row));
    const size = Math.max(...norms), rounding = (named(state) === "module" ? 1e-6 : 1e-9) * size;
    const same = (a, b) => Math.hypot(...a.map((x, i) => x - b[i])) <= rounding;
    if (P.every((row) => same(row, P[0]))) return LAMPS.map(() => false);
    return [
      P.every((a, t) => P.slice(0, t).every((b) => !same(a, b))),
      size - Math.min(...norms) <= rounding,
      Boolean(W) && P.slice(1).every((row, t) => same(times(W, P[t]), row)),
    ];
  };
  // All that is known of a state: the keys of each query, and how many are right.
  const known = (state) => {
    const { words, start } = state, lag = lagOf(state), refused = named(state) === "module" && STARTS[start] + words > TABLE;
    const rows = refused ? [] : weights(state), keys = refused ? range(words).map(() => []) : attended(rows);
    const right = (t) => keys[t].length === 1 && keys[t][0] === t - lag;
    return {
      rows, keys, lag, refused, right, lamps: refused ? LAMPS.map(() => false) : lampsOf(state),
      hits: range(words).filter(right).length, of: refused ? 0 : Math.max(0, words - lag),
    };
  };

  // Rows: as high as they may be; those between the first five and the last two are squeezed.
  const TOP = 74, HIGH = 264, LEFT = 58, MID = 106, PORT = 172, FULL = 23, LAST = 2, THIN = 12;
  const placesOf = (words) => {
    const even = Math.min(46, HIGH / words), squeezed = (HIGH - (MADE + LAST) * FULL) / (words - MADE - LAST);
    let y = TOP + (even < FULL ? 0 : (HIGH - words * even) / 2);
    return range(words).map((t) => {
      const h = even >= FULL ? even : t < MADE || t >= words - LAST ? FULL : squeezed;
      return { y: (y += h) - h / 2, h };
    });
  };
  const block = (kind, x, y, w, h, more = "") => `<rect class="${kind}" x="${f(x)}" y="${f(y)}" width="${f(w)}" height="${f(h)}"${more}/>`;
  const oval = (kind, x, y, a, b) => `<ellipse class="${kind}" cx="${f(x)}" cy="${f(y)}" rx="${f(a)}" ry="${f(b)}"/>`;

  // A dial as high as its row: squeezed, it is seen from its edge, and the tips of the
  // hands below each other draw a wave.
  const radius = (h) => Math.min(15.5, 0.46 * Math.max(h, 27));
  const column = (j) => LEFT + 18 + 35 * j;
  const clock = (x, { y, h }, angle, { before, legs } = {}) => {
    if (h < THIN) return "";
    const a = radius(h), b = Math.min(a, 0.4 * h), on = (to) => [x + a * Math.sin(to), y - b * Math.cos(to)], [px, py] = on(angle);
    return oval("face", x, y, a, b) +
      (before === undefined ? "" : path("wedge", `M${at(x, y)}L${at(...on(before))}A${f(a)} ${f(b)} 0 ${+(positive(angle - before) > TURN / 2)} 1 ${at(px, py)}Z`)) +
      (legs ? path("cosine", `M${at(x, y)}V${f(py)}`) + path("sine", `M${at(x, py)}H${f(px)}`) : "") +
      path("ink", `M${at(x, y)}L${at(px, py)}`) + oval("solid", px, py, 2.2, 2.2);
  };
  const waves = (kind) => (state, places) => {
    const rows = places.length - MADE - LAST, { y, h } = places[MADE];
    return speedsOf(state).map((w, j) => {
      const many = Math.ceil(8 + (w * rows * 16) / TURN), points = range(many + 1).map((i) => (rows * i) / many);
      return path(`${kind} trace`, line(points.map((r) => [column(j) + radius(h) * Math.sin(w * (MADE - 0.5 + r)), y + h * (r - 0.5)])));
    }).join("");
  };
  const GLYPHS = {
    none: (t, { y, h }) => (h < THIN ? "" : path("hair", `M${at(LEFT + 6, y)}h${MID - 16}`, ' stroke-dasharray="0.1 6"')),
    counting: (t, { y, h }, { words, squared }) => {
      const value = squared ? t * t : t, from = LEFT + (squared ? 62 : 26), thick = h < 9 ? h : Math.min(9, 0.7 * h);
      const unit = Math.min(9, (254 - from) / (squared ? (words - 1) ** 2 : words - 1));  // the longest has room
      return block("bar", from, y - thick / 2, Math.max(1.5, unit * value), thick) + (h < 16 ? "" : text(from - 5, y + 5.5, squared ? `${t}, ${value}` : t, "value"));
    },
    normalised: (t, { y, h }, { words }) => {
      const along = (x) => LEFT + 6 + (MID - 12) * x, x = t / (words - 1), aim = along(Math.max(0, x - QUARTER)), up = Math.min(8, 0.4 * h);
      const ruler = path("edge", `M${at(along(0), y)}H${f(along(1))}M${at(along(0), y - 3)}v6M${at(along(1), y - 3)}v6`);
      return (h < 9 ? "" : ruler + (t ? path("reach", `M${at(along(x), y)}H${f(aim)}`) + oval("aimed", aim, y, 3.4, 3.4) : "")) +
        path("ink", `M${at(along(x), y - up)}v${f(2 * up)}`, ' stroke-width="3"');
    },
    binary: (t, { y, h }) => {
      const side = h < 9 ? h : Math.min(14, 0.74 * h), flips = sum(bits(t).map((d, j) => t > 0 && d !== bits(t - 1)[j]));
      return bits(t).map((d, j) => (h < 9 && d < 0 ? "" : block(h < 9 ? "digit" : d > 0 ? "on" : "off", LEFT + 5 + 17 * j, y - side / 2, 14, side))).join("") +
        (h < THIN || flips < 2 ? "" : path("hair", `M${at(LEFT + 5, y + side / 2 + 3.5)}h${17 * flips - 3}`));
    },
    dials: (t, row, state) => speedsOf(state).map((w, j) => clock(column(j), row, w * t)).join(""),
    formula: (t, row, state) => speedsOf(state).map((w, j) => clock(column(j), row, w * t, { legs: true })).join(""),
    rotation: (t, row, { k }) => FORMULA.map((w, j) => clock(column(j), row, w * t, t < k ? {} : { before: w * (t - k) })).join(""),
    module: (t, { y, h }, state) => {
      const high = h < 9 ? h : h - Math.min(4, 0.14 * h), place = STARTS[state.start] + t;
      return (h < THIN ? "" : text(LEFT + 26, y + 5, place, "row")) + ENCODINGS.module(t, state).map((v, c) => {
        const [kind, more] = place >= TABLE ? ["absent", ""] : [v < 0 ? "negative" : c % 2 ? "cosine cell" : "sine cell", ` opacity="${plain(Math.abs(v), 2)}"`];
        return kind === "absent" && h < 9 ? "" : block(kind, LEFT + 33 + 12.5 * c, y - high / 2, 12.5, high, more);
      }).join("");
    },
  };
  const BETWEEN = { dials: waves("ink"), formula: waves("sine"), rotation: waves("sine") };

  // From a query to a key, along the right.
  const arc = (kind, from, to, share, picked) => {
    const up = Math.sign(to.y - from.y), a = from.y + 0.16 * up * from.h, b = to.y - 0.16 * up * to.h;
    const width = ` stroke-width="${plain(within(picked ? 1.6 : 0.7, Math.min(from.h, to.h) / 14, 2), 2)}"${share < 1 ? ` opacity="${plain(Math.max(share, 0.4), 2)}"` : ""}`;
    const s = Math.min(9, 0.3 * from.h), tipped = (y, x, dip) => (to.h < 7 ? "" : `M${at(PORT + 6, y - 4 + dip)}L${at(PORT, y)}L${at(PORT + x, y + 4 + dip)}`);
    if (!up) return path(kind, `M${at(PORT, a - s)}C${at(PORT + 24, a - s - 6)} ${at(PORT + 24, a + s + 6)} ${at(PORT, a + s)}${tipped(a + s, 5, 1)}`, width);
    const out = PORT + Math.min(112, 9 + 0.55 * Math.abs(b - a));
    return path(kind, `M${at(PORT, a)}C${at(out, a)} ${at(out, b)} ${at(PORT, b)}${tipped(b, 6, 0)}`, width);
  };
  // What is drawn of the arrows: [kind, key, query, share of the ink], since all arrows of a
  // draw have that of one; where nothing is told apart, a fog.
  const arrowsOf = (state, { keys, lag, right }, places) => {
    const fog = named(state) === "none";
    const found = range(state.words).flatMap((t) => (t < lag && !fog ? [] : keys[t].map((s) => [right(t) ? "right" : keys[t].length > 1 ? (fog ? "fog" : "draw") : "wrong", s, t, fog ? 1 : 1 / keys[t].length])));
    const kept = fog ? found.filter(([, s, t]) => s !== t && Math.min(places[s].h, places[t].h) > THIN) : found;
    return kept.toSorted((a, b) => (a[0] === "right") - (b[0] === "right"));
  };
  // Of the squeezed rows whose arrows go astray so few that a dozen arrows are left to follow.
  const followed = (found, places, query) => {
    const astray = found.filter(([kind, , t]) => kind !== "right" && places[t].h < THIN).map(([, , t]) => t);
    const few = [...new Set(astray)].filter((t, i) => i % Math.ceil(astray.length / 12) === 0 || t === query);
    return found.filter(([, , t]) => !astray.includes(t) || few.includes(t));
  };

  // The same arrows lying down: for the strip that stays where there is no room.
  // Of a fog it has nine words, spread over the text.
  const lying = (state, arrows) => {
    const x = (t) => 8 + (t * 124) / (state.words - 1), width = within(0.4, 18 / state.words, 1.8);
    const few = Math.min(9, state.words), spread = range(few).map((i) => Math.round((i * (state.words - 1)) / (few - 1)));
    const fog = spread.flatMap((t) => spread.filter((s) => s < t).map((s) => ["fog", s, t, 1]));
    return (named(state) === "none" ? fog : arrows).map(([kind, s, t, share]) => {
      const high = 40 - Math.min(34, 6 + 0.42 * Math.abs(x(t) - x(s)));
      return path(kind, s === t ? `M${at(x(t) - 3, 40)}c-7 -14 13 -14 6 0` : `M${at(x(t), 40)}C${at(x(t), high)} ${at(x(s), high)} ${at(x(s), 40)}`, ` stroke-width="${plain(width, 2)}" opacity="${plain(share, 2)}"`);
    }).join("") + range(state.words).map((t) => circle("solid", 0.6 + width, x(t), 44)).join("");
  };

  // Words
  const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
  const number = (x) => NUMBERS[x] ?? String(x);
  const orderOf = (state) => (named(state) === "none" && state.swapped ? [3, 1, 2, 0, 4] : range(MADE));
  const score = ({ hits, of, lag }) => {
    const before = lag === 1 ? "to the word before" : `${number(lag)} back`;
    return of === 1 ? `The one query ${hits ? "attends" : "does not attend"} ${before}.`
      : hits === of ? `${of === 2 ? "Both queries" : `All ${of}`} attend ${before}.`
      : hits ? `${hits} of ${of} attend${hits === 1 ? "s" : ""} ${before}.` : `None of ${of} attends ${before}.`;
  };
  const lower = (words) => words[0].toLowerCase() + words.slice(1);
  // Of one query: how much of its weight is where.
  const told = (state, { rows, keys }, query) => {
    const place = (t) => (t < MADE ? `${WORDS[orderOf(state)[t]]} at ${t}` : String(t)), found = keys[query], top = rows[query][found[0]];
    const share = top > 0.995 ? "all" : `${fixed(100 * top, 0)} %`;
    if (found.length === state.words) return `${place(query)} gives all ${state.words} keys the same weight, ${share}.`;
    if (found.length > 1) return `${place(query)} gives ${share} of its weight to each of ${found.length > 4 ? `${number(found.length)} keys` : found.join(", ")}: a draw.`;
    const to = found[0] === query ? "itself" : place(found[0]);
    return share === "all" ? `${place(query)} gives all its weight to ${to}.` : `${place(query)} gives ${share} of its weight to ${to}, more than to any other.`;
  };
  const SENTENCES = {
    none: (state) => `${state.swapped ? "New and old have changed places, and no arrow has. A" : "A"} head that reads positions alone finds none here, so each word attends to all ${state.words} alike. The three lamps are out: they are what an encoding will need.`,
    counting: (state, now) => (state.squared
      ? `With t² beside t, this head is right at every length: ${lower(score(now))} The price: ${state.words - 1} brings ${((state.words - 1) ** 2).toLocaleString("en")}.`
      : `${score(now)} The largest number wins.${state.words > 2 ? " No head on t alone gets more than one right (theorem)." : ""}`),
    normalised: ({ words }, now) => {
      const back = (words - 1) * QUARTER, steps = back === 1 ? "one word" : `${Number.isInteger(back) ? number(back) : back} words`;
      return words === MADE ? `This head, which has the square too, looks a quarter of the text back, to the ring: one word. ${score(now)}`
        : `This head still looks a quarter of the text back: now ${steps}. ${score(now)} No score of these numbers is right at every length (theorem).`;
    },
    binary: ({ words }, now) => {
      if (words <= MADE) return `Fitted at five words: ${lower(score(now))} Full squares are 1, empty ones −1: position 3 is 1 + 2. Underlined digits flip: a carry. The page begins with three digits.`;
      const first = range(words).find((t) => t && !now.right(t)), to = now.keys[first];
      const astray = to.length === 2 ? `cannot tell ${to.join(" from ")}` : to.length > 2 ? `cannot choose among ${number(to.length)} keys` : `attends to ${to[0]}`;
      const unmet = words > 8 ? ", for five words have no eights" : "";
      return `This head fails: query ${first} ${astray}${unmet}. ${score(now)} ${words > 6 ? "From seven words on every head fails (theorem)." : "Another head does six words; none does seven (theorem)."}`;
    },
    dials: (_, now) => (now.hits === now.of ? `One rotation takes every encoding to the next. ${score(now)}`
      : `After eight words all hands are back at twelve, so keys 0 and 8 are equal, for every head (theorem). ${score(now)}`),
    formula: (state, now) => (state.free ? `A head fitted freely at five words: ${lower(score(now))}${now.hits < now.of ? " The lamps promise that some head is right everywhere, not that a fit finds it." : ""}`
      : `Each hand has its own frequency. ${state.words > MADE ? "The head was made at five words, and still: " : ""}${state.words > MADE ? lower(score(now)) : score(now)}${now.lamps.every(Boolean) ? " All three lamps: so it is at every length (theorem)." : ""}`),
    rotation: ({ k }, now) => (now.of ? `T(${k}) rotates every key by the same angles, ${k === 1 ? "one step" : `${number(k)} steps`}, wherever it is. ${score(now)}` : `T(${k}) looks ${number(k)} back, and no word has so many before it.`),
    module: ({ words, start }, now) => (now.refused ? `IndexError: no rows ${STARTS[start]}:${STARTS[start] + words}. The buffer ends at row ${TABLE - 1}: ${STARTS[start] + words - TABLE} of ${count(words, "word")} would have none.`
      : `Rows ${STARTS[start]} to ${STARTS[start] + words - 1}, computed once and kept: the three hands as numbers, sines blue, cosines orange, negative ones without colour. ${score(now)}`),
  };
  const TITLES = {
    none: () => "No positions", counting: ({ squared }) => (squared ? "Counting: t and t²" : "Counting: t"), normalised: () => "Normalised: t/(n − 1)",
    binary: () => "Binary", dials: () => "Dials: wavelengths 2, 4, 8", formula: ({ free }) => (free ? "The formula, a free fit" : "The sinusoidal formula"), rotation: ({ k }) => `The rotation T(${k})`, module: () => "The buffer",
  };
  // What each page asks to try, when that is done, and what it shows.
  const TASKS = {
    none: ["Swap New and old. Which arrow changes?", ({ swapped }) => swapped, "<b>None.</b> Without positions, order is not seen."],
    counting: ["Stretch the text. Then add t², and see what it costs.", ({ squared, words }) => squared && words > 9, "<b>It works, and grows without end.</b>"],
    normalised: ["Make the text nine words long: where do the arrows lead?", ({ words }) => words > 7 && words < 11, "<b>Two words back.</b> A step is about half as large now."],
    binary: ["Find the shortest text in which an arrow goes astray.", ({ words }) => words === MADE + 1, "<b>Six words.</b> No head can follow the carry for long."],
    dials: ["Find the shortest text at which a lamp goes out.", ({ words }) => words === 9, "<b>Nine: not unique any more.</b> The rest still holds."],
    formula: ["Try to break this head, with up to 64 words.", ({ words, free }) => words === 64 && !free, "<b>63 of 63.</b> Now fit a head freely."],
    rotation: ["Drag the tip of the last arrow three words back.", ({ k }) => k === 3, "<b>The same three turns for all words.</b>"],
    module: ["Drag the start, at the right, to the end of the buffer.", (_, { refused }) => refused, "<b>Refused,</b> where a slice would silently be too short."],
  };

  // The row of all encodings: those of later pages are pale.
  const TAB = (i) => 16 + 32.5 * i;
  const small = (more, angle = 2.2) => group("scale(0.75)", clock(0, { y: 0, h: 40 }, angle, more));
  const ICONS = [
    path("hair", "M-10 0h20", ' stroke-dasharray="0.1 5"'), text(0, 6, "4", "sample"), path("edge", "M-10 0h20M-10 -4v8M10 -4v8") + path("ink", "M-4 -6v12"),
    block("on", -10, -5, 9, 10) + block("off", 1, -5, 9, 10), small(), small({ legs: true }), small({ before: 0.6 }),
    range(3).map((c) => block(`${c % 2 ? "cosine" : "sine"} cell`, -10 + 7 * c, -7, 7, 7) + block(c % 2 ? "sine cell" : "negative", -10 + 7 * c, 0, 7, 7, ' opacity="0.6"')).join(""),
  ];
  const tabs = ({ page, home }) => ICONS.map((icon, i) => `<g class="tab ${NAMES[i]}${i > home ? " later" : ""}" transform="${moved(TAB(i), 20)}">${icon}${path("check", "M-4 -15l3 3l6 -7")}</g>`).join("") +
    path("hair", `M0 42H260`) + path("here", `M${at(TAB(page) - 13, 42)}h26`);
  // What is taken at the right of the arrows, with its name.
  const RIGHT = 247, stage = (i) => TOP + 24 + 43 * i;
  const scale = path("edge", `M${RIGHT} ${stage(0)}V${stage(STARTS.length - 1)}`) + text(RIGHT + 12, TOP + 6, "start", "value") + text(RIGHT + 12, stage(STARTS.length) - 14, `end ${TABLE - 1}`, "value") +
    STARTS.map((at, i) => path("edge", `M${RIGHT - 4} ${stage(i)}h8`) + text(RIGHT - 14, stage(i) + 5, at, "row")).join("");
  // Above the columns what they are: digits, or the hands of the row that is looked at.
  const BESIDE = {
    binary: () => range(DIGITS).map((j) => text(LEFT + 19 + 17 * j, 67, 2 ** j, "row")).join(""),
    rotation: ({ words, k }, places) => text(PORT + 85, places.at(-1 - within(1, k, words - 1)).y + 5, `k = ${k}`, "value"),
    module: ({ start, query }) => scale + FORMULA.map((w, j) => group(moved(LEFT + 45.5 + 25 * j, 58), small({ legs: true }, w * (STARTS[start] + Math.max(0, query))))).join(""),
  };
  const SLIDE = 74, SLOT = 356, LONG = 172, lengthAt = (words) => SLIDE + (LONG / 5) * (Math.log2(words) - 1);

  drawings.bench = {
    size: [260, 404],
    alt: "Words below each other, each with its position in the encoding that is chosen above, and an arrow from each to the word that it attends to most: ink to the word before, plum to another, dashed for a draw. Below, three lamps: unique, equal norm, shift matrix.",
    goal: ({ home }) => TASKS[NAMES[home]][0],
    note: "An arrow shows where the <b>head</b> attends: plum is wrong, dashed a draw. <b>Lamps</b>: what holds for all rows.",
    reward: ({ home }) => TASKS[NAMES[home]][2],
    start: { home: 0, page: 0, words: MADE, k: 1, start: 0, squared: false, swapped: false, free: false, query: -1 },
    known: (given) => {
      const state = { ...drawings.bench.start, ...given }, { rows, keys, hits, of, refused, lamps } = known(state);
      return { table: table(state), head: head(state), rows, keys, hits, of, refused, lamps };
    },
    view(given) {
      const state = { ...given, words: Math.round(given.words), k: Math.round(given.k), start: Math.round(given.start) }, { words } = state;
      const name = named(state), now = known(state), places = placesOf(words), query = now.refused || state.query >= words ? -1 : state.query;
      const beam = query < 0 ? [] : now.rows[query].map((w, s, all) => (w < 0.005 ? "" : block("beam", 0, places[s].y - places[s].h / 2, PORT - 4, places[s].h, ` opacity="${plain(w / Math.max(...all), 2)}"`)));
      const names = places.map(({ y, h }, t) => (h < 14 ? "" : text(50, y + 6, t < MADE ? WORDS[orderOf(state)[t]] : t, t === query ? "picked" : t < MADE ? "word" : "count")));
      const gap = places[MADE]?.h < 14 ? text(44, (places[MADE].y + places[words - 1 - LAST].y) / 2 + 6, "⋮", "count") : "";
      const found = arrowsOf(state, now, places), arrows = followed(found, places, query).map(([kind, s, t, share]) => arc(query < 0 || t === query ? kind : `${kind} away`, places[t], places[s], t === query ? 1 : share, t === query));
      const lamps = LAMPS.map((lamp, i) => circle(now.lamps[i] ? "lamp lit" : "lamp", 5.5, [6, 74, 173][i], 390) + text([16, 84, 183][i], 395, lamp, now.lamps[i] ? "lit" : "unlit"));
      return {
        svg: tabs(state) + text(0, 64, TITLES[name](state), "title") + beam.join("") + places.map((row, t) => GLYPHS[name](t, row, state)).join("") +
          (places[MADE]?.h < THIN ? BETWEEN[name]?.(state, places) ?? "" : "") + names.join("") + gap + arrows.join("") +
          text(0, SLOT + 6, count(words, "word"), "length") + path("edge", `M${SLIDE} ${SLOT}h${LONG}M${at(lengthAt(MADE), SLOT - 8)}v16`) + lamps.join("") +
          (BESIDE[name]?.({ ...state, query }, places) ?? ""),
        strip: lying(state, found), title: TITLES[name](state), page: name,
        sentence: query < 0 ? SENTENCES[name](state, now) : told(state, now, query),
        reached: name === NAMES[state.home] && Boolean(TASKS[name][1](state, now)),
      };
    },
    handles(state) {
      const { page, home, words, k, start, query } = state, name = named(state), places = placesOf(Math.round(words)), last = places.at(-1);
      const row = (y) => places.findIndex((place) => y <= place.y + place.h / 2);
      const back = within(1, Math.round(k), places.length - 1);
      return [
        {
          label: "Encoding", text: TITLES[name](state), x: TAB(page), y: 20, hit: [-TAB(page), -20, TAB(home) + 16, 44], sign: false, hidden: !home,
          value: page, low: 0, high: Math.max(home, 1), step: 1, along: [32.5, 0], from: [TAB(0), 20], set: (to) => ({ page: to }), rest: ({ page: to }) => ({ page: Math.round(to) }),
        },
        {
          label: "Words in the text", text: count(Math.round(words), "word"), x: lengthAt(words), y: SLOT, hit: [-24, -22, 48, 44],
          value: words, low: 2, high: 64, step: 1, along: [LONG / 5, 0], from: [SLIDE, SLOT], read: (x) => 2 ** (x + 1), set: (to) => ({ words: Math.round(to) }),
        },
        {
          label: "Query", text: query < 0 ? "no query" : drawings.bench.view(state).sentence, x: 0, y: TOP, hit: [0, 0, 168, HIGH], sign: false, pans: true,
          value: Math.min(query, words - 1), low: -1, high: words - 1, step: 1, along: [0, 1], from: [0, 0], set: (to) => ({ query: Math.round(to) }),
          read: (y) => (row(y) === query ? -1 : row(y)),  // pressed twice, it is let go
        },
        {
          label: "How far back, k", text: `k = ${Math.round(k)}`, x: PORT + 30, y: places.at(-1 - back).y, hidden: name !== "rotation",
          value: k, low: 1, high: 8, step: 1, along: [0, -1], from: [0, last.y], read: (up) => places.length - 1 - Math.max(0, row(last.y - up)), set: (to) => ({ k: Math.round(to) }),
        },
        {
          label: "Start, the position of the first word", text: `start ${STARTS[Math.round(start)]}`, x: RIGHT, y: stage(start), hit: [-32, -22, 44, 44], hidden: name !== "module",
          value: start, low: 0, high: STARTS.length - 1, step: 1, along: [0, 43], set: (to) => ({ start: Math.round(to) }),
        },
        { label: "Swap New and old", pressed: state.swapped, press: () => ({ swapped: !state.swapped }), hidden: name !== "none" },
        { label: "t² beside t", pressed: state.squared, press: () => ({ squared: !state.squared }), hidden: name !== "counting" },
        { label: "Fit freely at five words", pressed: state.free, press: () => ({ free: !state.free }), hidden: name !== "formula" },
      ];
    },
  };
}
