// The fonts of nearly every page, early, so that no line moves when they come.
// From a folder a browser refuses to fetch them this way, and needs no hurry.
if (location.protocol !== "file:") {
  const formulas = {{ ('class="katex"' in (body or ""))|tojson }};
  const katex = ["katex/fonts/KaTeX_Main-Regular", "katex/fonts/KaTeX_Math-Italic"];
  const text = ["serif", "serif-italic", "serif-display", "code"].map((name) => `fonts/${name}`);
  const fonts = [...text, ...(formulas ? katex : [])];
  for (const font of fonts) {
    const link = document.createElement("link");
    link.rel = "preload";
    link.as = "font";
    link.type = "font/woff2";
    link.crossOrigin = "anonymous";
    link.href = `${document.documentElement.dataset.content_root}_static/${font}.woff2`;
    document.head.append(link);
  }
}
