// A page whose cells run: each becomes an editor, the engine (worker.js) runs them in order,
// and each says whether what it gives is as stored. The page alone compares. An answer is
// right if its check raises nothing; for it alone those cells run on which it rests.
import { edit } from "./editor.js";
import { frame } from "./frame.js";
import { save } from "./save.js";

const SHOWN = 200_000; // characters of a text; a page with more can no longer be read
const PROVED =
  "Right. Now read your proof once more, next to the solution where there is one: does it use all that is given, " +
  "does it cover the smallest case, and which of its steps would fail if the claim were false?";

const make = (tag, className = "", textContent = "") =>
  Object.assign(document.createElement(tag), { className, textContent });
const button = (text, onclick, ariaLabel = null) =>
  Object.assign(make("button", "live-button", text), { type: "button", onclick, ariaLabel });
const short = (text, most = 200) => (text.length > most ? `${text.slice(0, most)} …` : text);

// An output of a notebook as [type, text]; of a drawing the line that says all.
const given = ({ output_type: type, name, text, data }) => {
  if (type === "stream") return [String(name), String(text)];
  if (type === "error") return ["error", ""];
  const [[kind, what] = ["", ""]] = Object.entries(data ?? {});
  const shown = String(what);
  return [kind, kind === "text/html" && shown.slice(0, 60).includes("data-drawing=") ? shown.split("\n", 1)[0] : shown];
};
// As a notebook stores them: what is printed in one go is one text.
const gathered = (outputs) => {
  const found = [];
  for (const output of outputs) {
    const [kind, text] = given(output);
    const printed = kind === "stdout" || kind === "stderr";
    const above = printed && found.find((it) => it.kind === kind);
    if (above) above.text += text; // all in one place, as notebooks store it
    else found.push({ kind, text, whole: output.data?.[kind] });
  }
  return found;
};

export const begin = async (box, base, asked) => {
  const { page, version, cache } = box.dataset;
  const byKey = document.activeElement.matches(".live-button:focus-visible");
  const answer = await fetch(new URL(box.dataset.cells, base));
  if (!answer.ok) throw new Error(`the site has no cells of this page (${answer.status})`);
  const about = await answer.json();
  const style = make("link");
  Object.assign(style, { rel: "stylesheet", href: new URL(`${version}/live.css`, base).href });
  document.head.append(style);
  await new Promise((done) => (style.onload = style.onerror = done));

  let engine = null;
  let code; // of Python, compiled: a fresh one need not be
  let ready = false;
  let ran = []; // the texts that this Python has run, in order
  let running = null; // the cell at work
  let wanted = -1; // run up to here
  let only = null; // an answer: no cells but those that it needs

  // --- what the browser keeps: the changed cells; it may refuse ---
  const key = `live:${base.pathname}:${page}`;
  const answered = `answered:${base.pathname}`;
  const texts = () => new Map(kept(key));
  const keepText = ({ id, edited, text }) => {
    const now = texts(); // another tab may have changed other cells
    if (edited) now.set(id, text);
    else now.delete(id);
    keep(key, now);
    if (texts().get(id) !== now.get(id)) say("This browser keeps nothing for this site: your changes last until you leave the page.");
  };

  // --- the bar at the foot of the page ---
  const bar = make("section", "live-bar");
  bar.setAttribute("aria-label", "Python on this page");
  const message = make("p", "live-message");
  message.setAttribute("role", "status");
  const all = button("Run all", () => {
    only = null; // else what an answer left out would count as run
    run(cells.length - 1, firstStale() >= cells.length);
  });
  const stop = button("Stop", () => end("Stopped. The next run starts a fresh Python."));
  const file = button("Save as a notebook", async () => {
    try {
      await save(new URL(`../../notebooks/${page}.ipynb`, base), cells.filter(({ edited }) => edited), about);
      const there = about.reads ? "; the zip has what it reads: unpack it, and put the notebook in the place of the one in it" : "";
      say(`Saved: the reader’s notebook of this page, with your cells in it${there}.`);
    } catch (error) {
      say(`Not saved: ${error.message}.`);
    }
  });
  const buttons = make("div", "live-buttons");
  buttons.append(all, stop, file);
  bar.append(message, buttons);
  document.querySelector("main").append(bar);
  const say = (text) => {
    message.textContent = text;
  };

  // --- cells; that of an exercise is answered where the exercise stands ---
  // What a reader finds in a cell: of an exercise its stub, while the solution may run.
  const blank = ({ stub, source }) => stub ?? source;
  const write = (cell, text) => {
    cell.edited = text !== blank(cell); // an answer may be the solution, to the letter
    cell.text = cell.edited ? text : cell.source;
    if (cell.editor && cell.editor.area.value !== text) cell.editor.set(text);
  };
  const cells = about.cells.map((spec, index) => {
    const cell = { ...spec, index, state: "", outputs: [] };
    const text = texts().get(spec.id) ?? blank(cell);
    write(cell, text);
    const pre = make("pre");
    if (spec.exercise) {
      cell.holder = document.getElementById(spec.exercise);
      const input = make("div", "highlight live-answer");
      input.append(pre);
      cell.holder?.append(input);
      cell.solution = cell.holder?.nextElementSibling;
      if (!cell.solution?.matches("details.solution")) cell.solution = null;
      else document.querySelector(`.cell.c${index + 1}`)?.after(cell.solution);
    } else cell.holder = document.querySelector(`.cell.c${index}`);
    const place = spec.exercise ? pre : cell.holder?.querySelector(".cell_input pre");
    if (!cell.holder || !place) return cell;
    const name = spec.exercise ? "your answer" : `cell ${index + 1}`;
    cell.old = spec.exercise ? [] : [...cell.holder.querySelectorAll(".cell_output")];
    cell.mark = make("span", "live-mark");
    if (spec.exercise) cell.mark.setAttribute("role", "status");
    cell.undo = button("Put back", () => change(cell, blank(cell)), `Put back ${name}`);
    cell.line = make("div", "live-line");
    cell.line.append(button(spec.exercise ? "Check" : "Run", () => press(cell), `Run ${name}`), cell.mark, cell.undo);
    if (cell.solution) cell.solution.hidden = true; // until there was a try
    cell.editor = edit(place, text, `Code of ${name}`, { changed: (now) => change(cell, now), run: () => press(cell) });
    cell.editor.area.closest(".cell_input, .live-answer").append(cell.line);
    const fold = cell.line.closest("details.fold");
    if (fold && cell.holder.contains(fold)) fold.firstElementChild.append(cell.mark); // one sees it there
    return cell;
  });
  const change = (cell, text) => {
    write(cell, text);
    keepText(cell);
    const undone = !cell.edited && (ran[cell.index] || cell.source) !== cell.source;
    if (undone) end("Put back. The next run starts a fresh Python.");
    else showAll();
    if (!cell.edited && !holds(cell)) clear(cell);
  };

  // --- what a cell says ---
  const ended = ({ state }) => ["stored", "differs", "raised"].includes(state);
  // What a result rests on: the changed cells up to its own.
  const basis = ({ index }) => JSON.stringify(cells.slice(0, index + 1).map(({ edited, text }) => edited && text));
  const holds = (cell) => ended(cell) && cell.basis === basis(cell);
  const late = (cell) => ended(cell) && !holds(cell);
  const above = ({ index }) => cells.slice(0, index).some(({ edited }) => edited);
  const why = (cell) => (cell.edited ? ", with your change" : above(cell) ? ", below your change" : "");
  const words = {
    "": () => "",
    runs: () => "runs …",
    lost: () => "not finished",
    gone: () => "not run in this Python",
    stored: (cell) => `as stored${why(cell)}`,
    differs: (cell) => `differs${why(cell)}`,
    raised: ({ error: { ename, evalue, line } }) => `raised ${ename}${line ? ` in line ${line}` : ""}${evalue ? `: ${short(evalue)}` : ""}`,
  };
  const behind = (what) => ["late", `not ${what} since your change`];
  // Of an answer, [state, text]; one that is not begun is nothing.
  const verdict = (cell) => {
    const of = cell.state === "raised" ? cell : cells[cell.index + 1];
    if (!cell.edited) return ["", ""];
    if (!ended(of)) return [of.state, words[of.state](of)];
    if (late(of)) return behind("checked");
    if (!of.error) return ["right", cell.holder.firstElementChild.textContent.includes("Prove,") ? PROVED : "Right."];
    const { ename, evalue, line, wanted: wish } = of.error;
    const said = (of !== cell && wish) || (["AssertionError", "NotImplementedError"].includes(ename) && evalue);
    if (said) return ["raised", `Not yet: ${short(said)}`];
    if (of === cell) return ["raised", `Not yet: ${ename}${line ? ` in line ${line} of your answer` : ""}: ${short(evalue)}`];
    return ["raised", `Not yet: as the check uses your answer, ${ename}: ${short(evalue)}`];
  };
  const show = (cell) => {
    if (!cell.mark) return;
    const answer = cell.stub === undefined ? cells[cell.index - 1] : cell; // of a check
    let [state, text] = late(cell) ? behind("run") : [cell.state, words[cell.state](cell)];
    if (answer === cell) [state, text] = verdict(cell);
    else if (answer?.edited && answer.stub !== undefined) state = text = ""; // the answer says it
    cell.mark.textContent = text;
    cell.mark.dataset.state = state;
    cell.undo.hidden = !cell.edited;
    if (cell.solution && ["right", "raised"].includes(state)) cell.solution.hidden = false;
    if (state === "right" && answer === cell && !cells[cell.index + 1].edited && cell.holder.dataset.answered === undefined) {
      keep(answered, kept(answered).add(cell.exercise));
      cell.holder.dataset.answered = "";
    }
  };
  // In the place of a cell that `only` does not need, nothing runs. An answer above it runs
  // as well, and needs its own.
  const needed = ({ index }) => cells.some((each) => each.needs?.includes(index) && (each === only || (each.edited && each.index < only.index)));
  const due = (cell) => (only && cell.index < only.index && !cell.edited && !needed(cell) ? "" : cell.text);
  const firstStale = () => {
    const at = cells.findIndex((cell, index) => ran[index] !== cell.text && ran[index] !== due(cell));
    return at < 0 ? cells.length : at;
  };
  const showAll = () => {
    for (const cell of cells) show(cell);
    stop.hidden = !engine;
  };
  const summary = () => {
    const stored = cells.filter((cell) => cell.state === "stored" && !late(cell)).length;
    const changed = cells.filter(({ edited }) => edited).length;
    return `${stored} of ${cells.length} cells are as stored, ${changed} changed by you.`;
  };

  // --- what a cell gives, in the place of what is stored ---
  const clear = (cell) => {
    cell.result?.replaceWith(...cell.old);
    cell.result = null;
  };
  const textBox = (text, kind) => {
    const output = make("div", `output ${kind}`);
    const inside = make("div", "highlight");
    inside.append(make("pre", "", short(text, SHOWN)));
    output.append(inside);
    return output;
  };
  const picture = (svg) => {
    const image = make("img"); // in which a drawing runs nothing, and asks for nothing
    image.alt = "The figure that this cell draws now";
    image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    image.onload = () => URL.revokeObjectURL(image.src);
    return image;
  };
  const draw = (cell) => {
    clear(cell);
    if (!cell.holder) return;
    const result = (cell.result = make("div", "cell_output live-result"));
    for (const { kind, text, whole } of gathered(cell.outputs)) {
      if (kind === "image/svg+xml") result.append(picture(text));
      else if (kind === "text/html") result.append(frame(whole, about.scripts, `What cell ${cell.index + 1} shows now`));
      else if (kind !== "error") result.append(textBox(text, kind === "stderr" ? "stderr" : "stream"));
    }
    if (cell.error) result.append(textBox(String(cell.error.traceback), "stderr"));
    if (!result.children.length) result.append(make("p", "", "It gives nothing."));
    const [first] = cell.old;
    if (!first) return void (cell.stub === undefined ? cell.holder.querySelector(".cell_input") : cell.line)?.after(result);
    first.before(result);
    const stored = make("details", "fold");
    stored.append(make("summary", "", "What is stored"), ...cell.old);
    result.append(stored);
  };

  // --- running ---
  const press = (cell) => {
    if (cell.stub === undefined) run(cell.index);
    else if (cell.edited) run(cell.index + 1, false, cell.index, cell);
    else say("Write your answer first.");
  };
  // What a changed cell did to Python's modules stays in that Python. So where it is put
  // back, or a cell above it runs again, a fresh one starts.
  const foreign = (last) => ran.some((text, at) => at > last && text && text !== cells[at].source);
  const run = (last, anew = false, from = last, answer = null) => {
    const busy = engine && (running || !ready);
    only = busy && answer !== only ? null : answer;
    wanted = busy ? Math.max(wanted, last) : last;
    if (running) return;
    if (anew || foreign(last)) end("");
    document.documentElement.dataset.live = "works";
    if (firstStale() > last) ran.length = from;
    if (!engine) start();
    else if (ready) next();
    showAll();
  };
  const start = () => {
    engine = new Worker(new URL(`${version}/worker.js`, base), { type: "module" });
    engine.addEventListener("message", ({ data }) => hear[data.kind](data));
    engine.addEventListener("error", (event) => {
      event.preventDefault();
      end("Python could not start: a file of the site is missing, or the browser is too old.");
    });
    say("Fetching Python …");
    engine.postMessage({ do: "start", base: base.href, files: about.files, cache, code });
  };
  const end = (text) => {
    engine?.terminate();
    engine = null;
    ready = false;
    ran = [];
    if (running) running.state = "lost";
    if (running?.outputs.length) draw(running);
    running = null;
    for (const cell of cells.filter(ended)) cell.state = "gone";
    say(text);
    showAll();
    document.documentElement.dataset.live = "halted";
  };
  const next = () => {
    const index = firstStale();
    if (index > wanted || index >= cells.length) return rest();
    ran.length = index;
    ran[index] = due(cells[index]);
    if (ran[index] !== cells[index].text) return next(); // what it said, it says still
    running = cells[index];
    Object.assign(running, { state: "runs", outputs: [], error: null, basis: basis(running), at: running.text });
    clear(running);
    showAll();
    say(`Cell ${index + 1} of ${cells.length} runs …`);
    const needs = Object.keys(about.packs).filter((name) => new RegExp(about.packs[name]).test(running.text));
    engine.postMessage({ do: "run", index, source: running.text, needs });
  };
  const rest = () => {
    showAll();
    say(only ? "" : summary());
    document.documentElement.dataset.live = "rests";
  };
  const hear = {
    progress({ got, of }) {
      say(`Fetching Python: ${Math.round(got / 1e6)} of ${Math.round(of / 1e6)} MB`);
    },
    ready(what) {
      code = what.code;
      ready = true;
      next();
    },
    output({ output }) {
      running.outputs.push(output);
      if (output.output_type === "error") running.error = output;
    },
    done() {
      const cell = running;
      running = null;
      ran[cell.index] = cell.at;
      const shown = gathered(cell.outputs).map(({ kind, text }) => [kind, text]);
      const same = JSON.stringify(shown) === JSON.stringify(cell.stored);
      cell.state = cell.error ? "raised" : same ? "stored" : "differs";
      const answer = cells[cell.index - 1]?.stub === undefined ? cell : cells[cell.index - 1];
      const quiet = same || (answer !== cell && answer.edited);
      // A name on which the book's solution does not rest may be another cell's.
      if (only && (cell === only || answer === only) && cell.error?.ename === "NameError") only = null;
      try {
        if (!quiet && (cell.stub === undefined || (cell.edited && cell.outputs.length))) draw(cell);
      } finally {
        next();
      }
    },
    broken({ text }) {
      end(`${running ? `Cell ${running.index + 1}: ` : ""}Python broke down (${text}). The next run starts a fresh one.`);
    },
  };

  // Who came by the keyboard goes on in the first cell; a finger wants no keyboard to rise.
  box.hidden = true;
  const first = cells.find(({ exercise, editor }) => editor && exercise && exercise === asked);
  if (byKey && !first) cells[about.first].editor?.area.focus();
  if (!first) return run(about.first);
  first.editor.area.focus();
  run(first.index - 1, false, 0, first); // Python comes while one writes
};
