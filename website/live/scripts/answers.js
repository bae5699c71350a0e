// The exercises of a page that runs: each is answered where it stands, and checked with
// the check of the book. What was answered stays in this browser, and goes into a notebook.
import { edit } from "./editor.js";
import { button, make, memory } from "./parts.js";

const OPEN = "Not answered yet: ";
const FIRST = /^# Your answer to /;

// What a check said, without what was added for cells; a mistake, with its line.
const wordsOf = ({ name, message, trace, line }, part) => {
  if (name !== "AssertionError") {
    const where = part === "answer" && line ? ` in line ${line}` : "";
    return `${name}${where}: ${message.replace(/ \(cell \d+, line \d+\)$/, "")}`;
  }
  const at = trace.lastIndexOf("AssertionError: ");
  return at < 0 ? "The check failed." : trace.slice(at + 16).trim();
};

const download = (name, text, type) => {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

// The lines of a text as a notebook's file stores them.
const lines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

// An answer begins with its name.
const named = (label, text) => (FIRST.test(text) ? text : `# Your answer to ${label}\n${text}`);

// The student's edition of a chapter with these answers, {label: text}, in it.
const filled = (notebook, answers) => {
  for (const cell of notebook.cells) {
    for (const tag of cell.metadata.tags ?? []) {
      const label = tag.replace(/^answer-/, "");
      if (label !== tag && label in answers) cell.source = lines(named(label, answers[label]));
    }
  }
  return notebook;
};

export const exercises = (specs, { page, root, attempt, draw, refuse }) => {
  const holders = specs.map((spec) => [spec, document.getElementById(spec.label)]);
  const all = holders.filter(([, holder]) => holder).map(([spec, holder]) => answerable(spec, holder));

  // --- the fold in the bar ---
  const list = make("details", "live-exercises");
  const sum = make("summary");
  const rows = make("ul");
  const note = make("p", "live-note");
  note.setAttribute("role", "status");
  const buttons = make("div", "live-buttons");
  buttons.append(button("Save as notebook", () => saveNotebook()));
  const why = make("p", "live-note", "Answers stay in this browser alone. The notebook is this chapter’s.");
  const inside = make("div");
  inside.append(rows, why, buttons, note);
  list.append(sum, inside);
  list.hidden = !all.length;

  const tally = () => {
    sum.textContent = `Exercises: ${all.filter(({ done }) => done).length} of ${all.length} done`;
    rows.replaceChildren(
      ...all.map((one) => {
        const row = make("li");
        const state = one.done ? "done" : one.text === one.stub ? "not yet" : "begun";
        row.dataset.is = one.done ? "holds" : "not run";
        const link = make("a", "", one.title);
        link.href = `#${one.label}`;
        row.append(make("b", "", `${state}: `), link);
        return row;
      }),
    );
  };

  const change = (one, text) => {
    one.text = text;
    if (!memory.set("answer", page, one.label, text === one.stub ? null : text)) refuse();
    one.undo.hidden = text === one.stub;
    tally();
  };
  const finished = (one) => {
    one.done = true;
    memory.set("done", page, one.label, "1");
    marked(one.holder);
  };

  function answerable(spec, holder) {
    const text = memory.get("answer", page, spec.label) ?? spec.stub;
    const one = { ...spec, holder, text, done: memory.get("done", page, spec.label) !== null };
    let box = holder.querySelector(".live-answer");
    if (!box) holder.append((box = make("div", "live-answer")));
    const pre = make("pre");
    const frame = make("div", "highlight");
    frame.append(pre);
    one.press = button("Check", () => attempt(one));
    one.press.setAttribute("aria-label", `Check the answer to: ${spec.title}`);
    one.undo = button("Start again", () => {
      if (!confirm("Empty this answer? What you wrote is lost.")) return;
      one.editor.set(one.stub);
      change(one, one.stub);
      one.tell("", "");
    });
    one.undo.setAttribute("aria-label", `Start again with: ${spec.title}`);
    one.undo.hidden = text === spec.stub;
    one.status = make("p", "live-status");
    one.status.setAttribute("role", "status");
    one.more = make("div", "live-more");
    one.shown = { holder: make("div"), stored: [], outputs: [], events: [], index: spec.solution };
    const line = make("div", "live-line");
    line.append(one.press, one.undo);
    box.replaceChildren(frame, line, one.status, one.shown.holder, one.more);
    one.editor = edit(pre, text, `Your answer to: ${spec.title}`, {
      changed: (now) => change(one, now),
      run: () => attempt(one),
    });
    one.tell = (state, words) => {
      one.status.dataset.state = state;
      one.status.textContent = words;
      one.more.replaceChildren();
    };
    one.hear = (result) => hear(one, result);
    return one;
  }

  // What came of an answer: `part` is where it ended, "answer" or "check".
  const hear = (one, { part, error, events, changed, text }) => {
    one.shown.events = events.filter(
      ({ kind, name }) => kind !== "error" || (part === "answer" && name !== "NotImplementedError"),
    );
    one.shown.result?.remove();
    if (one.shown.events.length) draw(one.shown);
    const unset = one.names.filter((name) => new RegExp(`^${name} = \\.\\.\\.`, "m").test(text));
    if (!error) {
      if (!changed) finished(one);
      const but = " With your changes to the cells above; it counts when they are put back.";
      one.tell("same", `Right.${changed ? but : ""}`);
    } else if (error.name === "NotImplementedError") {
      return one.tell("", `${OPEN}${error.message}`);
    } else if (unset.length) {
      return one.tell("", OPEN + unset.join(", "));
    } else {
      const words = wordsOf(error, part);
      one.tell("fails", words);
      if (part === "check") hint(one, words);
    }
    const solution = document.querySelector(`.cell.c${one.solution}`)?.closest("details.solution");
    if (solution) {
      const label = error ? "Show the solution" : "Compare with the book’s solution";
      one.more.append(
        button(label, () => {
          solution.open = true;
          solution.firstElementChild.focus();
          solution.scrollIntoView({ block: "nearest" });
        }),
      );
    }
    tally();
  };

  const hint = (one, words) => {
    const { thinks = [] } = one.hints.find(({ says }) => words.includes(says)) ?? {};
    const line = make("p", "live-hint");
    if (thinks.length) {
      line.append(make("b", "", "Often behind it: "), thinks.map((each) => `“${each}”`).join(" or "), " ");
    }
    const link = make("a", "", "this figure");
    link.href = one.cure.href;
    line.append("Look at ", link, one.cure.on ? ` of “${one.cure.on}”.` : ".");
    one.more.append(line);
  };

  // --- the file ---
  const saveNotebook = async () => {
    try {
      const answer = await fetch(new URL(`notebooks/${page}.ipynb`, root));
      if (!answer.ok) throw new Error(`the site has no notebook of this page (${answer.status})`);
      const texts = Object.fromEntries(all.map(({ label, text }) => [label, text]));
      const notebook = filled(await answer.json(), texts);
      download(`${page.split("/").pop()}.ipynb`, `${JSON.stringify(notebook, null, 1)}\n`, "application/x-ipynb+json");
      note.textContent = "Saved: the student’s notebook of this chapter, with your answers in it.";
    } catch (error) {
      note.textContent = `Not saved: ${error.message}.`;
    }
  };
  addEventListener("storage", ({ key, newValue }) => {
    for (const one of all) {
      if (key === memory.key("done", page, one.label) && newValue) {
        one.done = true;
        marked(one.holder);
      } else if (key === memory.key("answer", page, one.label) && one.editor.area !== document.activeElement) {
        one.text = newValue ?? one.stub;
        one.editor.set(one.text);
        one.undo.hidden = one.text === one.stub;
      }
    }
    tally();
  });
  tally();
  return { all, list };
};

// A mark beside the title; start.js puts it where an exercise was done before.
const marked = (holder) => {
  if (!holder.querySelector(".live-done")) holder.querySelector(".admonition-title").append(make("span", "live-done", "✓ done"));
};
