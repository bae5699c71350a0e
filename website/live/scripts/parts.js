// What the scripts of a running page share: elements, and what the browser remembers.
export const make = (tag, name, text) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
};

export const button = (text, press) => {
  const made = make("button", "live-button", text);
  made.type = "button";
  made.addEventListener("click", press);
  return made;
};

export const plural = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

const TOO_MUCH = 2_000_000; // letters of a reader's text that a browser should keep

// The reader's cells ("live"), answers ("answer") and what was right ("done"). A browser may
// refuse to keep anything, and then it lasts a page.
export const memory = {
  key: (kind, page, id) => `${kind}:${page}:${id}`,
  get(kind, page, id) {
    try {
      return localStorage.getItem(this.key(kind, page, id));
    } catch {
      return null;
    }
  },
  set(kind, page, id, text) {
    try {
      if (text === null) localStorage.removeItem(this.key(kind, page, id));
      else if (text.length < TOO_MUCH) localStorage.setItem(this.key(kind, page, id), text);
      else return false;
      return true;
    } catch {
      return false;
    }
  },
};
