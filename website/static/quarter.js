// Moves the drawings of the quarter of an hour. Each is in the page as a still (quarter.py);
// values(state, part) lists what its elements with data-now get, in the order of the page,
// and the sentence below. For the same state it draws what the still shows; part, from 0
// to 1, is how far the drawing before it has turned into this one while the page scrolls.
"use strict";
{
  const TURN = 2 * Math.PI;
  const SENTENCE = "The old king gave seven golden apples to his youngest daughter before the first snow of winter fell on the silent town".split(" ");
  const within = (low, x, high) => Math.max(low, Math.min(high, x));
  const wrap = (x) => x - TURN * Math.round(x / TURN);
  const rest = (x) => ((x % TURN) + TURN) % TURN;
  const minus = (x) => String(x).replaceAll("-", "−");
  const fixed = (x, digits) => (Math.round(x * 10 ** digits) / 10 ** digits + 0).toFixed(digits);
  const f = (x) => fixed(x, 1);
  const at = (x, y) => `${f(x)} ${f(y)}`;
  const moved = (x, y) => `translate(${at(x, y)})`;
  const turned = (angle) => `rotate(${f((angle * 360) / TURN)})`;
  const tip = (angle, r) => [r * Math.sin(angle), -r * Math.cos(angle)];
  const quiet = matchMedia("(prefers-reduced-motion: reduce)");
  // Calls step(0 to 1) for so many milliseconds; at once where motion is not wanted.

  // A grip that is turned round a middle: how far since the last time.
  const crank = (x, y, turn, drop) => {
    let last;
    return {
      take: (p) => (last = Math.atan2(p.x - x, y - p.y)),
      move: (p) => turn(wrap(-last + (last = Math.atan2(p.x - x, y - p.y)))),
      drop,
    };
  };

  const drawings = {
    rotary: {
      start: { query: 16, key: 14 },
      values({ query, key }, part) {
        const a = 0.5 * key * part + 0.35, b = 0.5 * query * part + 1.25, gap = rest(b - a), score = Math.cos(gap);
        const place = (t) => 10 + 20 * t, x = place(key), y = place(query), wide = Math.max(124, Math.abs(y - x) + 84);
        const [nx, ny] = tip(0.8 * score, 74);
        return [
          [
            `M0 0L${at(...tip(a, 54))}A54 54 0 ${+(gap > Math.PI)} 1 ${at(...tip(b, 54))}Z`,
            turned(a),
            turned(b),
            `M470 190L${at(470 + nx, 190 + ny)}`,
            moved((x + y) / 2, 436),
            f(-wide / 2), "-24", f(wide), "48", "24",
            moved(x, 366),
            moved(y, 294),
          ],
          minus(`York at ${Math.round(query)}, old at ${Math.round(key)}: ${Math.round(query - key)} apart, ${Math.round((gap * 360) / TURN)}° between them, score ${fixed(score, 2)}.`),
        ];
      },
      grips({ state, draw }) {
        const drop = () => draw(Object.assign(state, { query: Math.round(state.query), key: Math.round(state.key) }));
        const both = (by) => {
          by = within(2 - state.key, by, 27 - state.query);
          draw(Object.assign(state, { query: state.query + by, key: state.key + by }));
        };
        const query = (to) => draw((state.query = within(state.key + 1, to, 27)));
        const key = (to) => draw((state.key = within(2, to, state.query - 1)));
        return [
          { label: "Both words", text: () => `${Math.round(state.query - state.key)} apart`, move: (p) => both(p.dx / 20), keys: (dx) => both(dx), drop },
          { label: "old, the key", text: () => `position ${Math.round(state.key)}`, move: (p) => key(state.key + p.dx / 20), keys: (dx) => key(state.key + dx), drop },
          { label: "York, the query", text: () => `position ${Math.round(state.query)}`, move: (p) => query(state.query + p.dx / 20), keys: (dx) => query(state.query + dx), drop },
        ];
      },
    },

    king: {
      start: { back: 0 },
      values({ back, answers }, part) {
        const step = Math.round(4 * back), answer = answers[step], kinds = SENTENCE.map(() => "later");
        let last = 0;
        for (const word of answer.replaceAll(".", "").split(" ")) {
          const there = SENTENCE.indexOf(word, last + 1);
          if (there < 0) continue;
          kinds.fill("skipped", last + 1, there);
          kinds[(last = there)] = "written";
        }
        return [
          [...kinds.map((kind, i) => (i <= part * SENTENCE.length ? kind : "later")), moved(300, 350), turned(back)],
          `Stored answer, ${step ? `four heads turned back by ${step / 4}` : "as trained"}: ${answer}`,
          step === 4,
        ];
      },
      grips({ state, draw }) {
        const rest = () => draw((state.back = Math.round(4 * state.back) / 4));
        const by = (angle) => draw((state.back = within(0, state.back + angle, 2)));
        return [{ label: "The turn of four heads", text: () => `back by ${Math.round(4 * state.back) / 4} positions`, ...crank(300, 350, by, rest), keys: (dx, dy) => by((dx - dy) / 4) }];
      },
    },
  };

  // A finger, a mouse or a key on an element of the drawing.
  const hold = (svg, element, { label, text, pressed, press, pans, above, take, move, drop, keys }) => {
    const tell = () => {
      if (pressed) element.setAttribute("aria-checked", pressed());
      else element.setAttribute("aria-valuetext", text());
    };
    for (const [name, value] of Object.entries({ tabindex: 0, role: pressed ? "switch" : "slider", "aria-label": label, ...(pressed ? {} : { "aria-valuenow": 0 }) }))
      element.setAttribute(name, value);
    tell();
    let last;
    const where = (event) => {
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      return { x, y, dx: last ? x - last.x : 0, dy: last ? y - last.y : 0 };
    };
    if (press) {
      element.addEventListener("click", () => tell(press()));
      element.addEventListener("pointerdown", (event) => event.preventDefault());  // no ring round it
    }
    element.addEventListener("keydown", (event) => {
      const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [];
      if (press && [" ", "Enter"].includes(event.key)) press();
      else if (keys && dx !== undefined) keys(dx, dy);
      else return;
      tell();
      event.preventDefault();
    });
    if (press) return;
    // Else the page would take the finger away; up and down it may, where that is no gesture.
    if (!pans) element.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    element.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      // It stays where it is in the page, so that the finger is not lost; the others go below.
      if (above) for (const other of svg.querySelectorAll(".take")) if (other !== element) element.before(other);
      element.setPointerCapture(event.pointerId);
      last = undefined;
      take?.((last = where(event)));
      last ??= where(event);
    });
    element.addEventListener("pointermove", (event) => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      const point = where(event);
      move(point);
      last = point;
      tell();
    });
    element.addEventListener("lostpointercapture", () => tell(drop?.()));
  };

  const begin = (root) => {
    const svg = root.querySelector("svg"), output = root.querySelector("output"), drawing = drawings[root.dataset.panel];
    const pieces = [...svg.querySelectorAll("[data-now]")].flatMap((piece) => piece.dataset.now.split(" ").map((name) => [piece, name]));
    const still = JSON.parse(root.dataset.still), state = { ...still, ...drawing.start };
    let part = 1;
    const show = (state, part) => {
      const [values, sentence, won] = drawing.values(state, part);
      pieces.forEach(([piece, name], i) => {
        if (name === "html") piece.innerHTML = values[i];
        else if (piece.getAttribute(name) !== values[i]) piece.setAttribute(name, values[i]);
      });
      if (part === 1 && output.textContent !== sentence) output.textContent = sentence;
      root.classList.toggle("won", Boolean(won));
    };
    const draw = () => show(state, (part = 1));
    // What has a part to grab is no picture any more, but keeps its words.
    svg.setAttribute("role", "group");
    const grips = drawing.grips({ state, draw });
    svg.querySelectorAll(".take").forEach((element, i) => hold(svg, element, grips[i]));
    root.addEventListener("draw", (event) => show({ ...still, ...event.detail }, 1));
    addEventListener("beforeprint", () => show(still, 1));
    addEventListener("afterprint", draw);
    draw();
    // How far the drawing before has turned into this one.
    return () => {
      const high = innerHeight, { top, bottom } = root.getBoundingClientRect();
      const now = quiet.matches || bottom < 0 || top > high ? part : within(0, (0.92 * high - top) / (0.55 * high), 1);
      if (now !== part) show(state, (part = now));
    };
  };

  const scrolled = [...document.querySelectorAll(".panel[data-still]")].map(begin);
  let frame = 0;
  addEventListener("scroll", () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      scrolled.forEach((look) => look());
    });
  }, { passive: true });
}
