// A cell's code as an editor: a text area that lies over the highlighted text. Tab moves
// on, as everywhere on the page; Shift+Enter runs.
const WORDS =
  "False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|" +
  "finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield";
const TEXTS = String.raw`"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`;
const TOKEN = new RegExp(`(#.*|${TEXTS}|\\b(?:sin|cos|${WORDS})\\b)`);
const COLOURS = { "#": "c1", '"': "", "'": "", sin: "sine", cos: "cosine" };

// The same quiet colours as those of the build: keywords and comments step back.
const paint = (pre, source) => {
  const parts = source.split(TOKEN).map((text, at) => {
    const kind = at % 2 ? (COLOURS[text] ?? COLOURS[text[0]] ?? "k") : "";
    return kind ? Object.assign(document.createElement("span"), { className: kind, textContent: text }) : text;
  });
  pre.replaceChildren(...parts, "\n");
};

export const edit = (original, source, label, { changed, run }) => {
  const frame = document.createElement("div");
  frame.className = "live-editor";
  original.replaceWith(frame);
  const pre = original.cloneNode(); // nobody watches this one and makes it a stop of Tab
  const area = document.createElement("textarea");
  Object.assign(area, { value: source, spellcheck: false, rows: 1, autocomplete: "off", autocapitalize: "off" });
  Object.assign(area, { ariaLabel: label, ariaKeyShortcuts: "Shift+Enter" });
  area.setAttribute("autocorrect", "off");
  pre.ariaHidden = "true";
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
