// A table or a drawing of the reader's own: apart from the page, and from the network. No
// script runs in it but those of the book's drawings, because no policy stops WebRTC; and
// what leads away is taken out, because a browser connects to where a frame or a link would
// go before a policy refuses it.
const LEADS =
  "meta, link, base, iframe, frame, frameset, object, embed, portal, fencedframe, template, noscript, noembed, noframes, xmp, plaintext, animate, set";
const FETCHES = /^(srcset|srcdoc|data|poster|ping|action|formaction|background)$/i;
const COLOURS = ["ink", "paper", "muted", "edge", "hair", "surface", "raised", "sine", "cosine", "target", "yes", "no"];

const without = (root) => {
  for (const node of root.querySelectorAll(LEADS)) node.remove();
  for (const node of root.querySelectorAll("*")) {
    for (const { name, value } of Array.from(node.attributes)) {
      const leads = /(href|src)$/i.test(name) && !/^(#|data:image\/)/.test(value);
      const fetches = FETCHES.test(name) || /url\(\s*["']?(?!#)|image-set|@import|\\/i.test(value);
      if (leads || fetches || /^on/i.test(name)) node.removeAttribute(name);
    }
  }
  return root.innerHTML;
};

// Until it is read as it is written: what was taken out may leave other markup than stood there.
const tidy = (text) => {
  for (let turn = 0; turn < 9; turn += 1) {
    const before = text;
    const { head, body } = new DOMParser().parseFromString(before, "text/html");
    text = [head, body].map(without).join("");
    if (text === before) return text;
  }
  return "";
};

// `scripts`: the hashes of those that may run.
export const frame = (text, scripts, title) => {
  const made = document.createElement("iframe");
  const style = getComputedStyle(document.body);
  const colours = COLOURS.map((name) => `--${name}: ${style.getPropertyValue(`--${name}`)}`).join("; ");
  const scheme = document.documentElement.dataset.theme;
  const policy = `default-src 'none'; form-action 'none'; base-uri 'none'; script-src ${scripts.join(" ")}; style-src 'unsafe-inline'; img-src data:`;
  made.className = "live-frame";
  made.title = title;
  made.setAttribute("sandbox", "allow-scripts");
  made.srcdoc = `<meta http-equiv="x-dns-prefetch-control" content="off"><meta http-equiv="Content-Security-Policy" content="${policy}"><style>:root { color-scheme: ${scheme}; ${colours} } body { margin: 0; font: 1rem/1.5 serif; color: var(--ink); background: var(--paper) }</style>${tidy(String(text))}`;
  return made;
};
