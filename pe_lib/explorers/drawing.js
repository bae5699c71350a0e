// What all drawings share. Each has a script of its own that adds to `drawings`, by name:
//
//   size        width and height of its picture; alt, goal, reward: its words, the last
//               two also as (state) => words; note: what its parts are, if that is new
//   start       its state, which is plain data
//   view        (state) => { svg, sentence, reached }: pure
//   handles     (state) => what can be taken, always as many, in the same order
//   tick        (state, seconds) => the state a moment later, or nothing when it is at rest
//
// A handle has a label, a text (its value in words), its place x and y, and either
//   press       () => what changes in the state; pressed: whether it is on
// or a value with low, high, step, and set: (value) => what changes; the value follows
//   along       [x, y], the way of a finger that adds 1; from: the place of 0, if a value
//               is where the finger is and not where the handle is taken
//   around      [x, y], the middle round which it is turned; the value is an angle
// up is a second such value for the other direction, or with a radius for how far it is
// from the middle round which it is turned; rest: (state, before) => what changes
// when it is let go; hit: [x, y, width, height], if it is not a disc; sign: false for none;
// pans: a swipe up or down scrolls the page; read: (way) => the value there, where the way
// is no straight line; hidden: it cannot be taken in this state. A press without a place
// is a button below.
"use strict";
const TURN = 2 * Math.PI;
const WORDS = ["New", "York", "beats", "old", "York"];
const drawings = {};

// Numbers
const range = (n) => [...Array(n).keys()];
const sum = (list) => list.reduce((total, x) => total + x, 0);
const within = (low, x, high) => Math.max(low, Math.min(high, x));
const mix = (a, b, part) => a + (b - a) * part;
const ease = (x) => x * x * (3 - 2 * x);
const degrees = (angle) => (angle * 360) / TURN;
// The same angle, more than half a turn neither way; and from 0 to a whole turn.
const wrap = (x) => x - TURN * Math.ceil(x / TURN - 0.5);
const positive = (x) => ((x % TURN) + TURN) % TURN;
const dot = (a, b) => sum(a.map((x, i) => x * b[i]));
const softmax = (scores) => {
  const top = Math.max(...scores), powers = scores.map((x) => Math.exp(x - top)), all = sum(powers);
  return powers.map((x) => x / all);
};
// Where the largest is; what differs by rounding only is a draw.
const highest = (scores) => {
  const top = Math.max(...scores);
  return scores.flatMap((x, s) => (x > top - 1e-9 ? [s] : []));
};
const frequencies = (hands, base = 10000, width = 2 * hands) => range(hands).map((j) => base ** ((-2 * j) / width));
// A state on its way from one to another.
const between = (a, b, part) =>
  typeof a === "number" && typeof b === "number" ? mix(a, b, part)
    : Array.isArray(a) && Array.isArray(b) ? b.map((x, i) => between(a[i], x, part))
    : b;

// Words
const minus = (x) => String(x).replaceAll("-", "−");
const plain = (x, digits) => (Math.round(x * 10 ** digits) / 10 ** digits + 0).toFixed(digits);
const fixed = (x, digits = 2) => minus(plain(x, digits));
const count = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

// Pieces
const f = (x) => plain(x, 1);
const at = (x, y) => `${f(x)} ${f(y)}`;
const moved = (x, y) => `translate(${at(x, y)})`;
const turned = (angle) => `rotate(${f(degrees(angle))})`;
// The tip of a hand from its middle: angles begin at twelve and run clockwise.
const tip = (angle, r) => [r * Math.sin(angle), -r * Math.cos(angle)];
const path = (kind, d, more = "") => `<path class="${kind}" d="${d}"${more}/>`;
const circle = (kind, r, x = 0, y = 0) => `<circle class="${kind}" cx="${f(x)}" cy="${f(y)}" r="${f(r)}"/>`;
const box = (kind, x, y, wide, high, r = 0) => `<rect class="${kind}" x="${f(x)}" y="${f(y)}" width="${f(wide)}" height="${f(high)}" rx="${f(r)}"/>`;
const text = (x, y, words, kind = "word") => `<text class="${kind}" x="${f(x)}" y="${f(y)}">${words}</text>`;
const group = (where, ...inside) => `<g transform="${where}">${inside.join("")}</g>`;
const line = (points) => `M${points.map(([x, y]) => at(x, y)).join("L")}`;
// Where a word of the sentence is: in all drawings at the same place.
const seat = (i) => 60 + 120 * i;
const hand = (r, tipped) => path("ink", `M0 0V${-r}`) + circle("solid", tipped, 0, -r);
// A dial and its hand; dotted where it should be, and its shadows.
const dial = (r, angle, { wanted, legs, fit } = {}) => {
  const [x, y] = tip(angle, r);
  return [
    circle(fit ? "fit" : "face", r),
    wanted === undefined ? "" : group(turned(wanted), path("aim", `M0 0V${-r}`)),
    legs ? path("cosine leg", `M0 0V${f(y)}`) + path("sine leg", `M0 ${f(y)}H${f(x)}`) : "",
    group(turned(angle), hand(r, Math.max(3, 0.1 * r))),
  ].join("");
};
// From one word over the others to the next, or to itself.
const thread = (a, b, y) => {
  if (a === b) return `M${at(a - 12, y)}C${at(a - 34, y - 56)} ${at(a + 34, y - 56)} ${at(a + 12, y)}`;
  const top = y - 28 - 0.24 * Math.abs(a - b);
  return `M${at(a, y)}C${at(a, top)} ${at(b, top)} ${at(b, y)}`;
};
// The same with a head, from a query to a key.
const arrow = (kind, a, b, y) => {
  const x = a === b ? b + 12 : b;
  return path(kind, `${thread(a, b, y)}M${at(x - 7, y - 11)}L${at(x, y)}L${at(x + 7, y - 11)}`);
};
// A knob: a dial round whose middle a finger turns, and as far out as the margin.
const knob = (x, y, r, angle, margin) => {
  const [right, down] = tip(angle, r), far = r + margin;
  return { x: x + right, y: y + down, hit: [-right - far, -down - far, 2 * far, 2 * far], around: [x, y], value: angle };
};

// A drawing as it is stored and printed, and as its script finds it.
const still = (name, given) => {
  const { size, alt, goal, note, reward, start, view } = drawings[name], state = { ...start, ...given };
  const { svg, sentence, reached } = view(state), said = (words) => (typeof words === "function" ? words(state) : words);
  return `<p class="goal">${said(goal)}</p>${note ? `<p class="note">${note}</p>` : ""}
<svg viewBox="0 0 ${size.join(" ")}" role="img" aria-label="${alt}"><g class="picture">${svg}</g></svg>
<output aria-live="polite"><span class="line">${sentence}</span> <span class="reward"${reached ? "" : " hidden"}>${said(reward)}</span></output>
`;
};

const ARROW = "M-12 0H12M-6 -6L-12 0L-6 6M6 -6L12 0L6 6";
const UPRIGHT = "M0 -12V12M-6 -6L0 -12L6 -6M-6 6L0 12L6 6";
const ROUND = "M8 -8A11 11 0 1 0 11 1M9 -15V-7H1";
const signOf = ({ around, along, up }) => (up ? ARROW + UPRIGHT : around ? ROUND : along[0] ? ARROW : UPRIGHT);
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [0, -10], PageDown: [0, 10] };

// Makes a drawing of the page live.
const begin = (root) => {
  const drawing = drawings[root.dataset.drawing], given = JSON.parse(root.dataset.state);
  root.classList.add("live");
  if (!root.querySelector("svg")) root.querySelector(".absent").outerHTML = still(root.dataset.drawing, given);
  const svg = root.querySelector("svg"), picture = root.querySelector(".picture"), said = root.querySelector(".line"), reward = root.querySelector(".reward");
  const quiet = matchMedia("(prefers-reduced-motion: reduce)");
  const buttons = document.createElement("div");
  let state = { ...drawing.start, ...given }, shown = state, found, gliding = 0, ticking = 0;
  buttons.className = "buttons";
  root.querySelector("output").after(buttons);
  svg.setAttribute("role", "group");  // what has a part to take is no picture any more

  const show = (now) => {
    const seen = (root.seen = drawing.view((shown = now))), { svg, sentence } = seen;
    const reached = seen.reached && state !== found;  // what its reader did, and not how it was found
    picture.innerHTML = svg;
    root.dispatchEvent(new Event("seen"));
    if (said.textContent !== sentence) said.textContent = sentence;
    reward.hidden = !reached;
    if (reached && !root.classList.contains("reached")) root.dispatchEvent(new CustomEvent("reached", { bubbles: true }));
    root.classList.toggle("reached", reached);
    drawing.handles(now).forEach((handle, i) => tell(elements[i], handle));
  };
  // Shows a state, at once or on a way of so many milliseconds; then lets it move by itself.
  const go = (next, ms = 0) => {
    const before = shown, begun = performance.now();
    cancelAnimationFrame(gliding);
    state = next;
    root.dispatchEvent(new CustomEvent("put", { detail: state }));
    again.hidden = false;
    const step = (time) => {
      const part = quiet.matches || !ms ? 1 : within(0, (time - begun) / ms, 1);
      if (part === 1) return show(state), live();
      const way = Object.entries(state).map(([name, x]) => [name, between(before[name], x, ease(part))]);
      show(Object.fromEntries(way));
      gliding = requestAnimationFrame(step);
    };
    step(begun);
  };
  const live = () => {
    if (!drawing.tick || ticking) return;
    let next, last = performance.now();
    const step = (time) => {
      ticking = 0;
      if (!(next = drawing.tick(state, within(0, (time - last) / 1000, 0.05)))) return;
      last = time;
      show((state = next));
      ticking = requestAnimationFrame(step);
    };
    if (!quiet.matches) return (ticking = requestAnimationFrame(step));
    for (let n = 0; n < 2000 && (next = drawing.tick(state, 1 / 60)); n++) state = next;
    show(state);
  };

  // What is heard of a handle, and where it is.
  const tell = (element, { label, text, x, y, hit, press, pressed, value, low, high, hidden }) => {
    element.toggleAttribute("hidden", Boolean(hidden));
    const heard = press ? { [element.localName === "button" ? "aria-pressed" : "aria-checked"]: pressed }
      : { "aria-valuemin": +low.toFixed(3), "aria-valuemax": +high.toFixed(3), "aria-valuenow": +value.toFixed(3), "aria-valuetext": text };
    for (const [name, is] of Object.entries(heard)) if (is !== undefined) element.setAttribute(name, is);
    if (element.localName === "button") return (element.textContent = label);
    element.setAttribute("aria-label", label);
    element.setAttribute("transform", moved(x, y));
    const [left, top, wide, high_] = hit ?? [-36, -36, 72, 72];
    const area = element.firstChild;
    for (const [name, is] of Object.entries({ x: left, y: top, width: wide, height: high_ })) area.setAttribute(name, f(is));
  };
  // One value of a handle, changed.
  const put = ({ low, high, set }, value) => set(within(low, value, high));
  const drop = (i, before) => {
    const { held, ...free } = state, { rest } = drawing.handles(state)[i];
    go(rest ? { ...free, ...rest(free, before) } : free, rest ? 240 : 0);
  };

  const key = (i) => (event) => {
    const handle = drawing.handles(state)[i], { along, around, up, value, low, high, step } = handle;
    const [dx, dy] = KEYS[event.key] ?? [], end = { Home: low, End: high }[event.key];
    if (handle.press || (end === undefined && dx === undefined)) return;
    event.preventDefault();
    const way = dx === undefined ? 0 : dx || (around || up || along[0] ? -dy : dy * Math.sign(along[1]));
    const changes = end !== undefined ? put(handle, end) : up && dy ? put(up, up.value - dy * up.step) : put(handle, value + way * step);
    const before = state;
    state = { ...state, ...changes };
    drop(i, before);
  };
  const hold = (element, i) => {
    let from, last, swept;
    const point = ({ clientX, clientY }) => new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    // Else the page would take the finger away; up and down it may, where that is no gesture.
    if (drawing.handles(state)[i].pans) element.dataset.pans = "";
    else element.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    element.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      element.blur();  // the keyboard's ring goes
      element.focus({ preventScroll: true, focusVisible: false });
      element.setPointerCapture(event.pointerId);
      from = { point: (last = point(event)), handle: drawing.handles(state)[i], state };
      swept = 0;
      if (from.handle.from) move(event);
    });
    const move = (event) => {
      if (!from) return;
      const { handle } = from, { along, around, up } = handle, p = point(event), changes = { held: i };
      const [x, y] = handle.from ?? [from.point.x, from.point.y];
      const far = (way) => ((p.x - x) * way[0] + (p.y - y) * way[1]) / (way[0] ** 2 + way[1] ** 2);
      if (around) {
        const angle = (q) => Math.atan2(q.x - around[0], around[1] - q.y);
        swept += wrap(angle(p) - angle(last));
        last = p;
        Object.assign(changes, put(handle, handle.value + swept));
      } else Object.assign(changes, put(handle, (handle.read ?? Number)((handle.from ? 0 : handle.value) + far(along))));
      const out = (q) => Math.hypot(q.x - around[0], q.y - around[1]) / up.radius;
      if (up?.radius) Object.assign(changes, put(up, up.value + out(p) - out(from.point)));
      else if (up) Object.assign(changes, put(up, (handle.from ? 0 : up.value) + far(up.along)));
      go({ ...state, ...changes });
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("lostpointercapture", () => {
      drop(i, from.state);
      from = undefined;
    });
  };
  const elements = drawing.handles(state).map((handle, i) => {
    const below = handle.press && handle.x === undefined;
    const element = below ? document.createElement("button") : document.createElementNS(svg.namespaceURI, "g");
    if (below) element.type = "button";
    else {
      const sign = handle.press || handle.sign === false ? "" : `<g class="sign">${circle("disc", 23)}${path("arrow", signOf(handle))}</g>`;
      element.innerHTML = `<rect class="hit" rx="12"/>${sign}`;
      for (const [name, value] of Object.entries({ class: "take", tabindex: 0, role: handle.press ? "switch" : "slider" })) element.setAttribute(name, value);
    }
    element.dataset.lmSuppressShortcuts = true;  // JupyterLab leaves the arrow keys to it
    (below ? buttons : svg).append(element);
    if (handle.press) {
      const press = () => go({ ...state, ...drawing.handles(state)[i].press() });
      element.addEventListener("click", press);
      if (!below) {
        element.addEventListener("pointerdown", (event) => (event.preventDefault(), element.blur()));  // no ring round it
        element.addEventListener("keydown", (event) => [" ", "Enter"].includes(event.key) && (event.preventDefault(), press()));
      }
    } else {
      element.addEventListener("keydown", key(i));
      hold(element, i);
    }
    return element;
  });
  const again = document.createElement("button");
  Object.assign(again, { type: "button", textContent: "Start again", onclick: () => go({ ...drawing.start, ...given }) });  // at once: halfway is no state
  buttons.append(again);
  show(state);
  again.hidden = true;
  // Its page may begin elsewhere: "Start again" leads back to how it is stored.
  root.addEventListener("begin", ({ detail }) => {
    show((state = found = { ...state, ...detail }));
    again.hidden = false;
  });
  addEventListener("beforeprint", () => show({ ...drawing.start, ...given }));
  addEventListener("afterprint", () => show(state));
  new IntersectionObserver(([seen], watch) => {
    if (!seen.isIntersecting) return;
    root.classList.add("met");
    watch.disconnect();
  }, { threshold: 0.5 }).observe(svg);
};
const beginAll = () => document.querySelectorAll(".pe-explorer[data-state]:not(.live)").forEach((root) => root.dataset.drawing in drawings && begin(root));
