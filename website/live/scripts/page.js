// A page whose cells run: every cell becomes an editor, one worker runs them in order, and
// each result is laid beside the stored one, which the book's tests proved.
import { exercises } from "./answers.js";
import { edit } from "./editor.js";
import { fade } from "./numbers.js";
import { button, make, memory, plural } from "./parts.js";

// What stands where a cell gave too much.
const CUT = {
  text: "It printed more than a page can hold; the rest was dropped.",
  figure: "It drew more than a page can hold; this figure was dropped, and what followed.",
  html: "It made a table larger than a page can hold; it was dropped, and what followed.",
};

// What the line of a fold says of the cell inside.
const SIGNS = {
  runs: "runs …",
  same: "as proved",
  other: "another result than proved",
  fails: "fails for these values",
  away: "cannot run here",
};

// What leads away, and what another reading of the text would make of it.
const LEADS =
  "meta, link, base, iframe, frame, frameset, object, embed, portal, fencedframe, template, noscript, noembed, noframes, xmp, plaintext, animate, set";
const FETCHES = /^(srcset|srcdoc|data|poster|ping|action|formaction|background)$/i;

const megabytes = (size) => `${Math.round(size / 1e6)} MB`;

// What a cell gave, as the notebook stores it: all its text is one, where it began.
const gathered = (events) => {
  const outputs = [];
  let printed = null;
  for (const event of events) {
    if (event.kind === "text") {
      if (!printed) outputs.push((printed = ["text", ""]));
      printed[1] += event.text;
    } else if (event.kind === "value") outputs.push(["value", event.text]);
    else if (event.kind === "figure" || event.kind === "html") outputs.push([event.kind, event.hash]);
    else if (event.kind === "cut") outputs.push(["cut", ""]);
  }
  return outputs;
};
// Whether what has come so far cannot become what is stored.
const strays = (outputs, stored) =>
  outputs.some(([kind, what], at) => {
    const [wanted, whole] = stored[at] ?? [];
    return kind !== wanted || (kind === "text" ? !whole.startsWith(what) : whole !== what);
  });
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// `exercise`: the label of an exercise, where the reader began there.
export const begin = async (box, base, exercise = "") => {
  const { page } = box.dataset;
  const byKey = document.activeElement.matches(".live-button:focus-visible");
  const about = await (await fetch(new URL(box.dataset.cells, base))).json();
  const style = make("link");
  Object.assign(style, { rel: "stylesheet", href: new URL(`${box.dataset.version}/live.css`, base).href });
  await new Promise((done) => {
    style.onload = style.onerror = done;
    document.head.append(style);
  });

  const total = about.cells.length;
  let worker = null;
  let ready = false;
  let ran = []; // the sources that Python has run, in order
  let running = null; // the cell at work
  let wanted = -1; // run up to here
  const tries = []; // answers that wait for the cells above them
  let stopped = false;
  let refused = false; // the browser keeps nothing

  // --- the bar at the foot of the page ---
  const bar = make("section", "live-bar");
  bar.setAttribute("aria-label", "Python on this page");
  const message = make("p", "live-message");
  message.setAttribute("role", "status");
  const way = make("progress");
  way.setAttribute("aria-label", "Fetching Python");
  const all = button("Run all", () => want(total - 1, true));
  const stop = button("Stop", () => halt("Stopped. What ran before is gone: Python starts afresh at the next run."));
  const reset = button("Reset all", () => {
    const edited = cells.some((cell) => cell.edited);
    if (edited && !confirm("Put back all cells of this page as they were? Your answers to exercises stay.")) return;
    for (const cell of cells) back(cell);
    halt("Python starts afresh at the next run.");
  });
  const buttons = make("div", "live-buttons");
  buttons.append(all, stop, reset);
  bar.append(way, message, buttons);
  document.querySelector("main").append(bar);

  // --- cells ---
  const cells = about.cells.map((spec, index) => {
    const holder = document.querySelector(`.cell.c${index}`);
    const kept = memory.get("live", page, spec.id);
    const cell = { ...spec, index, holder, text: kept ?? spec.source, state: "", events: [], edited: kept !== null };
    const pre = holder?.querySelector(".cell_input pre");
    if (!pre) return cell;
    const input = pre.closest(".cell_input");
    holder.id ||= `live-${index + 1}`;
    cell.stored = [...holder.querySelectorAll(".cell_output")];
    cell.line = make("div", "live-line");
    cell.mark = make("span", "live-mark");
    cell.run = button("Run", () => want(index));
    cell.run.setAttribute("aria-label", `Run cell ${index + 1}`);
    cell.undo = button("Reset", () => back(cell));
    cell.undo.setAttribute("aria-label", `Reset cell ${index + 1}`);
    cell.line.append(cell.run, cell.mark, cell.undo);
    cell.editor = edit(pre, cell.text, `Code of cell ${index + 1} of ${total}`, {
      changed: (text) => change(cell, text),
      run: () => want(index),
    });
    input.append(cell.line);
    const fold = input.closest("details.fold");
    if (fold && holder.contains(fold)) {
      cell.sign = make("span", "live-sign");
      fold.firstElementChild.append(cell.sign);
    }
    return cell;
  });

  const refuse = () => {
    if (refused) return;
    refused = true;
    say("This browser keeps nothing for this site: your changes last until you leave the page.");
  };
  const change = (cell, text) => {
    cell.text = text;
    cell.edited = text !== cell.source;
    if (!memory.set("live", page, cell.id, cell.edited ? text : null)) refuse();
    for (const below of cells.slice(cell.index)) show(below);
    if (ready && !running && !refused) say(summary());
    tally();
  };
  // What a changed cell did to Python's modules goes with that Python.
  const back = (cell) => {
    if (!cell.edited) return;
    cell.editor?.set(cell.source);
    change(cell, cell.source);
    if ((ran[cell.index] ?? cell.source) !== cell.source) halt("Put back. Python starts afresh at the next run.");
  };
  addEventListener("storage", ({ key, newValue }) => {
    const cell = cells.find(({ id }) => memory.key("live", page, id) === key);
    if (!cell || cell.editor?.area === document.activeElement) return;
    cell.text = newValue ?? cell.source;
    cell.edited = cell.text !== cell.source;
    cell.editor?.set(cell.text);
    for (const below of cells.slice(cell.index)) show(below);
    tally();
  });

  // --- what stands under a cell ---
  // What a result rests on: the changed cells up to its own.
  const basis = ({ index }) => JSON.stringify(cells.slice(0, index + 1).map((cell) => cell.edited && cell.text));
  const ended = (cell) => ["same", "other", "fails", "away"].includes(cell.state);
  const fresh = (cell) => ended(cell) && cell.basis === basis(cell);
  // The first cell that Python has not run as it stands now.
  const firstStale = () => {
    const at = cells.findIndex((cell, index) => ran[index] !== cell.text);
    return at < 0 ? total : at;
  };
  const above = (cell) => cells.slice(0, cell.index).filter((other) => other.edited);

  const verdicts = {
    "": () => "",
    waits: () => "waits",
    runs: () => "runs …",
    same: (cell) => {
      if (cell.edited) return "changed by you; the result is the same";
      if (cell.outputs.length) return "same as proved";
      if (above(cell).length) return cell.checked ? "passes with other numbers" : "ran";
      return cell.checked ? "holds, as proved" : "ran, as proved";
    },
    other: (cell) => {
      if (cell.edited) return "changed by you; what was proved was another result";
      if (above(cell).length) return "no longer what was proved, for these values";
      return "differs from what was proved";
    },
    fails: (cell) => {
      const { name, message: words, line } = cell.error;
      if (name === "AssertionError") {
        const head = cell.error.quoted ? "a quoted number changed" : SIGNS.fails;
        return `${above(cell).length || cell.edited ? head : "does not hold"}: ${words || "an assertion"}`;
      }
      return `${name}${line ? ` in line ${line}` : ""}: ${words}`;
    },
    away: (cell) => cell.error.message,
    lost: () => "not finished",
  };

  const sign = (cell) => {
    if (cell.edited && ended(cell)) return "changed by you";
    // Without an output there are no numbers to compare, and a sentence may name the book's values.
    const elsewhere = above(cell).length && (cell.checked || !cell.outputs.length);
    return cell.state === "same" && elsewhere ? "passes with your values" : (SIGNS[cell.state] ?? "");
  };
  const show = (cell) => {
    if (!cell.mark) return;
    const late = ended(cell) && !fresh(cell);
    cell.mark.textContent = verdicts[cell.state](cell) + (late ? " (before the last change)" : "");
    cell.mark.dataset.state = late ? "late" : cell.state;
    cell.undo.hidden = !cell.edited;
    if (cell.sign) {
      cell.sign.textContent = late ? "not run since a change" : sign(cell);
      cell.sign.dataset.state = cell.mark.dataset.state;
    }
  };

  const clear = (cell) => {
    cell.result?.remove();
    cell.result = null;
    for (const output of cell.stored ?? []) output.hidden = false;
    fade(cell.holder, null);
  };

  const textBox = (text, marked) => {
    const output = make("div", "output stream");
    const frame = make("div", "highlight");
    const pre = make("pre");
    const before = new Set(marked);
    for (const [at, piece] of text.replace(/\n$/, "").split("\n").entries()) {
      if (at) pre.append("\n");
      pre.append(marked && !before.has(piece) ? make("mark", "", piece) : piece);
    }
    frame.append(pre);
    output.append(frame);
    return output;
  };

  // Another result than the stored one takes its place; the stored one stays at hand.
  const draw = (cell) => {
    if (!cell.holder) return;
    cell.result?.remove();
    const result = (cell.result = make("div", "cell_output live-result"));
    const marked = cell.outputs.filter(([kind]) => kind === "text").flatMap(([, text]) => text.split("\n"));
    let text = "";
    const flush = () => {
      if (text) result.append(textBox(text, cell.outputs.length ? marked : null));
      text = "";
    };
    const pictures = cell.stored.flatMap((output) => [...output.querySelectorAll("figure")]);
    for (const event of cell.events) {
      if (event.kind === "text") {
        text += event.text;
        continue;
      }
      flush();
      if (event.kind === "value") result.append(textBox(event.text));
      else if (event.kind === "cut") result.append(make("p", "live-note", CUT[event.what]));
      else if (event.kind === "figure") result.append(picture(event, pictures));
      else if (event.kind === "html") result.append(frameOf(event, cell));
      else if (event.kind === "error" && event.name !== "AssertionError") {
        const trace = textBox(event.trace);
        trace.classList.replace("stream", "stderr");
        result.append(trace);
      }
    }
    flush();
    for (const output of cell.stored) output.hidden = true;
    if (!cell.events.length && cell.state === "other") result.append(make("p", "live-note", "It prints nothing."));
    if (cell.stored.length) {
      const turn = button("Show what was proved", () => {
        const shown = cell.stored[0].hidden;
        for (const output of cell.stored) output.hidden = !shown;
        turn.setAttribute("aria-expanded", String(shown));
      });
      turn.setAttribute("aria-expanded", "false");
      result.append(turn);
    }
    const at = cell.stored.at(-1);
    if (at) at.after(result);
    else cell.holder.append(result);
    // A cell in a fold keeps its result there; a picture stands above its fold.
  };

  // What a cell draws or shows comes from whatever was typed into it, and leads nowhere: a
  // browser connects to where a frame or a link would go before a policy refuses it.
  const without = (unwanted, root) => {
    for (const node of root.querySelectorAll(unwanted)) node.remove();
    for (const node of [root, ...root.querySelectorAll("*")]) {
      for (const { name, value } of Array.from(node.attributes)) {
        const leads = /(href|src)$/i.test(name) && !/^(#|data:image\/)/.test(value);
        const fetches = FETCHES.test(name) || /url\(\s*["']?(?!#)|image-set|@import|\\/i.test(value);
        if (leads || fetches || /^on/i.test(name)) node.removeAttribute(name);
      }
    }
    return root;
  };
  const harmless = (text) => {
    const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
    if (!svg) return "";
    for (const node of svg.querySelectorAll("*")) {
      if (node.namespaceURI !== svg.namespaceURI) node.remove(); // no meta, link or form inside a <desc>
    }
    return without("script, style, foreignObject, animate, set", svg);
  };
  // Until it is read as it is written: what was taken out may leave other markup than stood there.
  const tidy = (text) => {
    for (let turn = 0; turn < 9; turn += 1) {
      const before = text;
      const { head, body } = new DOMParser().parseFromString(before, "text/html");
      text = [head, body].map((part) => without(LEADS, part).innerHTML).join("");
      if (text === before) return text;
    }
    return "";
  };

  const picture = (event, pictures) => {
    const figure = make("figure");
    if (event.svg) figure.append(harmless(event.svg));
    else {
      const old = pictures.find((each) => each.querySelector("svg"));
      if (old) figure.append(old.querySelector("svg").cloneNode(true));
    }
    const caption = pictures[0]?.querySelector("figcaption");
    if (caption) {
      const copy = make("figcaption", event.svg ? "live-gone" : "");
      if (event.svg) copy.append(make("b", "", "Written for other values: "));
      for (const node of caption.childNodes) copy.append(node.cloneNode(true));
      copy.querySelector(".headerlink")?.remove();
      figure.append(copy);
    }
    return figure;
  };

  // A table or an explorer of the reader's own: apart from the page, and from the network. No
  // script runs in it but those of the explorers, because no policy stops WebRTC.
  const frameOf = (event, cell) => {
    if (!event.html) {
      const old = cell.stored.flatMap((output) => [...output.children]).find((each) => each.querySelector(".pe-explorer, table:not(.grid)"));
      return old ? old.cloneNode(true) : make("p", "live-note", "As proved.");
    }
    const frame = make("iframe", "live-frame");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.title = `What cell ${cell.index + 1} shows now`;
    const style = getComputedStyle(document.body);
    const names = ["ink", "paper", "muted", "edge", "hair", "surface", "raised", "sine", "cosine", "target", "yes", "no"];
    const colours = names.map((name) => `--${name}: ${style.getPropertyValue(`--${name}`)}`).join("; ");
    const scheme = document.documentElement.dataset.theme;
    frame.srcdoc = `<meta http-equiv="x-dns-prefetch-control" content="off"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; form-action 'none'; base-uri 'none'; script-src ${about.scripts.join(" ")}; style-src 'unsafe-inline'; img-src data:"><style>:root { color-scheme: ${scheme}; ${colours} } body { margin: 0; font: 1rem/1.5 serif; color: var(--ink); background: var(--paper) }</style>${tidy(event.html)}`;
    return frame;
  };

  // --- the bar ---
  const say = (text, bad = false) => {
    message.textContent = text;
    message.classList.toggle("bad", bad);
  };
  const counts = () => {
    const of = (state) => cells.filter((cell) => cell.state === state && fresh(cell));
    return { same: of("same"), other: of("other"), fails: of("fails"), away: of("away") };
  };
  const summary = () => {
    const { same: alike, other, fails, away } = counts();
    const done = alike.length + other.length + fails.length + away.length;
    const good = alike.filter((cell) => !cell.edited);
    const edited = cells.filter((cell) => cell.edited).length;
    if (!done) return "";
    if (good.length === total) return `All ${total} cells give what was proved, figures included.`;
    const parts = [`${good.length} of ${plural(total, "cell")} as proved`];
    if (edited) parts.push(`${edited} changed by you`);
    if (other.length) parts.push(`${other.length} with another result`);
    if (fails.length) parts.push(`${plural(fails.length, "fails", "fail")}`);
    if (away.length) parts.push(`${plural(away.length, "needs", "need")} what a browser lacks`);
    if (done < total) parts.push(`${total - done} not run${edited ? " since your change" : ""}`);
    return `${parts.join(", ")}.`;
  };

  const tally = () => {
    reset.textContent = cells.some((cell) => cell.edited) ? "Reset all" : "Restart Python";
    reset.hidden = !worker && reset.textContent !== "Reset all";
    stop.hidden = !worker || (ready && !running);
    all.hidden = !stop.hidden;
    all.textContent = firstStale() > 0 && firstStale() < total ? "Run the rest" : "Run all";
  };

  // --- running ---
  const needs = (text) => Object.keys(about.packs).filter((name) => new RegExp(about.packs[name]).test(text));

  const raise = () => {
    worker?.terminate();
    ready = false;
    ran = [];
    worker = new Worker(new URL(`${box.dataset.version}/worker.js`, base), { type: "module" });
    worker.addEventListener("message", ({ data }) => hear(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      halt("Python could not start: a file of the site is missing, or the browser is too old.", true);
    });
    way.hidden = false;
    way.removeAttribute("value");
    say("Fetching Python …");
    worker.postMessage({
      do: "start",
      base: base.href,
      all: about.engine,
      cache: box.dataset.cache,
    });
  };

  const want = (last, anew = false) => {
    stopped = false;
    document.documentElement.dataset.live = "works";
    if (running) {
      wanted = Math.max(wanted, last);
      return;
    }
    if (anew && firstStale() >= total) ran = [];
    wanted = last;
    // A cell that ran already runs once more, from where it stood.
    if (!anew && firstStale() > last) ran.length = last;
    if (!worker) raise();
    else if (ready) next();
    tally();
  };

  const next = () => {
    const index = firstStale();
    const turn = tries.findIndex(({ solution }) => solution <= index);
    if (turn < 0 && (index > wanted || index >= total)) return rest();
    if (turn >= 0) return tryOut(tries.splice(turn, 1)[0]);
    ran.length = index;
    const cell = cells[index];
    running = cell;
    Object.assign(cell, { state: "runs", events: [], error: null, at: cell.text, basis: basis(cell) });
    clear(cell);
    show(cell);
    tally();
    say(`Cell ${index + 1} of ${total} runs …`);
    const expected = cell.outputs.filter(([kind]) => kind === "figure" || kind === "html").map(([, hash]) => hash);
    send(cell, cell.text, expected);
  };

  // An answer in the place of the solution, and then the check, below all that stands above.
  const attempt = (exercise) => {
    stopped = false;
    if (tries.includes(exercise) || running?.exercise === exercise) return;
    document.documentElement.dataset.live = "works";
    tries.push(exercise);
    exercise.tell("runs", "The cells above run first …");
    wanted = Math.max(running ? wanted : -1, exercise.solution - 1);
    if (!worker) raise();
    else if (ready && !running) next();
    tally();
  };
  const tryOut = (exercise) => {
    ran.length = exercise.solution;
    running = { exercise, part: "answer", index: exercise.solution, text: exercise.text, events: [], error: null };
    exercise.tell("runs", "Your answer runs …");
    say("Your answer runs …");
    tally();
    send(running, exercise.text);
  };
  const send = ({ index }, source, expected = []) =>
    worker.postMessage({ do: "run", index, source, expected, needs: needs(source), goes_on: !running.exercise });
  const tried = (it) => {
    const { exercise, part } = it;
    if (part === "answer" && !it.error) {
      Object.assign(it, { part: "check", index: exercise.check });
      return send(it, about.cells[exercise.check].source);
    }
    running = null;
    exercise.hear({ ...it, changed: above(cells[exercise.solution]).length > 0 });
    if (stopped) rest();
    else next();
  };

  const rest = () => {
    for (const exercise of tries.splice(0)) exercise.tell("", "Not checked: a cell above ends in a mistake.");
    running = null;
    for (const cell of cells) show(cell);
    say(summary());
    tally();
    document.documentElement.dataset.live = "rests";
  };

  const hear = (event) => {
    if (event.kind === "progress") {
      way.max = event.of;
      way.value = event.got;
      say(`Fetching Python: ${megabytes(event.got)} of ${megabytes(event.of)}`);
      if (running && event.got === event.of) way.hidden = true;
    } else if (event.kind === "starting") {
      way.removeAttribute("value");
      way.setAttribute("aria-label", "Starting Python");
      say("Starting Python …");
    } else if (event.kind === "ready") {
      ready = true;
      way.hidden = true;
      next();
    } else if (event.kind === "broken") {
      const where = running ? `${running.exercise ? "Your answer" : `Cell ${running.index + 1}`}: ` : "";
      halt(`${where}Python broke down (${event.text}). It starts afresh at the next run.`, true);
    } else if (event.kind === "memory") bar.dataset.memory = event.bytes;
    else if (event.kind === "done") running.exercise ? tried(running) : finish(running);
    else if (running) {
      running.events.push(event);
      if (event.kind === "error") running.error = event;
      if (!running.exercise && slow(running) && strays(gathered(running.events), running.outputs)) draw(running);
    }
  };

  // While a cell prints, its text is drawn now and then.
  const slow = (cell) => {
    const now = performance.now();
    if (now - (cell.drawn ?? 0) < 400) return false;
    cell.drawn = now;
    return cell.events.filter(({ kind }) => kind === "text").length > 1;
  };

  const finish = (cell) => {
    running = null;
    ran[cell.index] = cell.at;
    if (cell.error) cell.state = cell.error.name === "NotHere" ? "away" : "fails";
    else cell.state = same(gathered(cell.events), cell.outputs) ? "same" : "other";
    if (cell.state === "same" || cell.state === "away") clear(cell);
    else draw(cell);
    if (cell.state === "other" || cell.state === "fails") {
      fade(cell.holder, { before: cell.outputs, now: gathered(cell.events) });
    }
    show(cell);
    if (stopped) return rest();
    // A mistake stops the run where it stands; below a change all goes on, to see what holds.
    const mistake = cell.state === "fails" && cell.error.name !== "AssertionError";
    if (mistake && (cell.edited || !above(cell).length)) wanted = cell.index;
    next();
  };

  const halt = (words, bad = false) => {
    worker?.terminate();
    worker = null;
    ready = false;
    way.hidden = true;
    stopped = true;
    ran = [];
    for (const exercise of [...tries.splice(0), running?.exercise]) exercise?.tell("", "Not checked: it was stopped.");
    if (running) {
      running.state = "lost";
      show(running);
    }
    running = null;
    for (const cell of cells) show(cell);
    say(words, bad);
    tally();
    document.documentElement.dataset.live = "halted";
  };

  const answers = exercises(about.exercises, { page, root: new URL("../../", base), attempt, draw, refuse });
  bar.append(answers.list);

  // Who came by the keyboard goes on in the first cell; a finger wants no keyboard to rise.
  const areas = cells.flatMap(({ editor }) => editor?.area ?? []).filter((area) => area.checkVisibility?.() ?? true);
  const following = areas.find((area) => box.compareDocumentPosition(area) & Node.DOCUMENT_POSITION_FOLLOWING);
  for (const cell of cells) show(cell);
  const begun = answers.all.find(({ label }) => label === exercise);
  box.hidden = true;
  if (byKey) (begun?.editor.area ?? following)?.focus();
  document.documentElement.dataset.live = "starts";
  tally();
  want(begun ? begun.solution - 1 : total - 1);
};
