// A cell's code as an editor: a text area that lies over the highlighted text. Tab moves
// on, as everywhere on the page; Shift+Enter runs.
const WORDS =
  "False None True and as assert async await break class continue def del elif else except " +
  "finally for from global if import in is lambda nonlocal not or pass raise return try while with yield";
const KEYWORDS = new Set(WORDS.split(" "));
const COLOURS = { sin: "sine", cos: "cosine" };
const TOKEN =
  /(#.*)|([rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|([A-Za-z_]\w*)/g;

// The same quiet colours as those of the build: keywords and comments step back.
export const paint = (pre, source) => {
  const parts = [];
  let end = 0;
  const add = (text, kind) => {
    if (!kind) return void parts.push(text);
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = text;
    parts.push(span);
  };
  for (const match of source.matchAll(TOKEN)) {
    const [text, comment, , name] = match;
    const kind = comment ? "c1" : name && (COLOURS[name] ?? (KEYWORDS.has(name) ? "k" : ""));
    add(source.slice(end, match.index));
    add(text, kind);
    end = match.index + text.length;
  }
  pre.replaceChildren(...parts, `${source.slice(end)}\n`);
};

export const edit = (original, source, label, { changed, run }) => {
  const frame = document.createElement("div");
  frame.className = "live-editor";
  original.replaceWith(frame);
  const pre = original.cloneNode(); // nobody watches this one and makes it a stop of Tab
  const area = document.createElement("textarea");
  Object.assign(area, { value: source, spellcheck: false, rows: 1, autocomplete: "off" });
  area.setAttribute("autocapitalize", "off");
  area.setAttribute("autocorrect", "off");
  area.setAttribute("aria-label", label);
  area.setAttribute("aria-keyshortcuts", "Shift+Enter");
  pre.setAttribute("aria-hidden", "true");
  pre.removeAttribute("tabindex");
  frame.append(pre, area);
  paint(pre, source);
  area.addEventListener("input", () => {
    paint(pre, area.value);
    changed(area.value);
  });
  area.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const control = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && (event.shiftKey || control)) run();
    else if (event.key === "Enter") {
      const line = area.value.slice(0, area.selectionStart).split("\n").pop();
      const deeper = /:\s*(#.*)?$/.test(line) ? "    " : "";
      document.execCommand("insertText", false, `\n${/^ */.exec(line)[0]}${deeper}`); // can be undone
    } else return;
    event.preventDefault();
  });
  return {
    area,
    set: (text) => {
      area.value = text;
      paint(pre, text);
    },
  };
};
