// The few values of a chapter that may be changed, named in one cell of its set-up:
//
//     D = 32    # numbers a code: 4 to 64, even
//
// Here they are fields above the page's first open cell; the cell's code follows them.
import { button, make } from "./parts.js";

const LINE = /^([A-Z][A-Z_]*) = ([-\d._]+)( *# (.+?): ([-\d._]+) to ([-\d._]+)(, even)?)$/gm;
const plain = (number) => Number(number.replaceAll("_", ""));
const written = (value) => (value >= 10_000 ? value.toLocaleString("en").replaceAll(",", "_") : String(value));

export const found = (text) =>
  [...text.matchAll(LINE)].map(([, name, value, , what, least, most, even]) => ({
    name,
    value: plain(value),
    what,
    least: plain(least),
    most: plain(most),
    even: Boolean(even),
  }));

// What was changed, as one says it: "D = 8, LENGTH = 20"; nothing if the cell says more.
export const changed = (cell) => {
  const proved = found(cell.source);
  return found(cell.text)
    .filter(({ value }, at) => value !== proved[at]?.value)
    .map(({ name, value }) => `${name} = ${written(value)}`)
    .join(", ");
};

export const fields = (cell, { write, run, back }) => {
  const form = make("form", "live-values");
  const proved = found(cell.source);
  const inputs = proved.map(({ name, what, least, most, even }) => {
    const label = make("label", "", `${what} `);
    const input = make("input");
    label.prepend(make("code", "", name), " ");
    Object.assign(input, { type: "number", min: least, max: most, required: true });
    input.step = even ? 2 : Number.isInteger(least) ? 1 : "any";
    input.setAttribute("aria-describedby", `live-range-${name}`);
    const range = make("small", "", `${least.toLocaleString("en")} to ${most.toLocaleString("en")}${even ? ", even" : ""}`);
    range.id = `live-range-${name}`;
    label.append(input);
    const field = make("div");
    field.append(label, range);
    form.append(field);
    input.addEventListener("input", () => {
      if (!input.validity.valid) return;
      const pattern = new RegExp(`^${name} = [-\\d._]+`, "m");
      write(cell.text.replace(pattern, () => `${name} = ${written(input.valueAsNumber)}`));
    });
    return input;
  });
  const go = make("button", "live-button", "Run with these values");
  const undo = button("As proved", back);
  const buttons = make("div", "live-buttons");
  buttons.append(go, undo);
  form.prepend(make("p", "", "Does it hold for other values?"));
  form.append(buttons);
  form.setAttribute("aria-label", "Values of this chapter");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  // What the cell says now; a line that was rewritten by hand has no field any more.
  const show = () => {
    const now = new Map(found(cell.text).map(({ name, value }) => [name, value]));
    for (const [at, input] of inputs.entries()) {
      const value = now.get(proved[at].name);
      input.disabled = value === undefined;
      if (value !== undefined && document.activeElement !== input) input.value = value;
    }
    undo.hidden = !cell.edited;
  };
  show();
  return { form, show };
};
