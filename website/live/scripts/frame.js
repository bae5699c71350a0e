// A table or a drawing of the reader's own: apart from the page, and from the network. No
// script runs in it but those of the book's drawings, because no policy stops WebRTC.
const COLOURS = ["ink", "paper", "muted", "edge", "hair", "surface", "raised", "sine", "cosine", "target", "yes", "no"];

// `scripts`: the hashes of those that may run.
export const frame = (text, scripts, title) => {
  const made = document.createElement("iframe");
  const style = getComputedStyle(document.body);
  const colours = COLOURS.map((name) => `--${name}: ${style.getPropertyValue(`--${name}`)}`).join("; ");
  const policy = `default-src 'none'; form-action 'none'; base-uri 'none'; script-src ${scripts.join(" ")}; style-src 'unsafe-inline'; img-src data:`;
  made.className = "live-frame";
  made.title = title;
  made.setAttribute("sandbox", "allow-scripts");
  made.srcdoc = `<meta http-equiv="x-dns-prefetch-control" content="off"><meta http-equiv="Content-Security-Policy" content="${policy}"><style>:root { color-scheme: light dark; ${colours} } body { margin: 0; font: 1rem/1.5 serif; color: var(--ink); background: var(--paper) }</style>${text}`;
  return made;
};
