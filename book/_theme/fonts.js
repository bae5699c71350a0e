// The faces of the text come early or not at all ("optional" in the style sheets): no
// line moves for them. From a folder nothing can be fetched early, and waiting is short.
{
  const root = document.documentElement;
  const fetchEarly = (font) => {
    const link = document.createElement("link");
    link.rel = "preload";
    link.as = "font";
    link.type = "font/woff2";
    link.crossOrigin = "anonymous";
    link.href = `${root.dataset.content_root}_static/${font}.woff2`;
    document.head.append(link);
  };
  const text = ["serif", "serif-italic", "serif-display", "code"].map((name) => `fonts/${name}`);
  const formulas = ["katex/fonts/KaTeX_Main-Regular", "katex/fonts/KaTeX_Math-Italic"];
  if (location.protocol === "file:") {
    root.style.display = "none";
    addEventListener("DOMContentLoaded", async () => {
      const early = [...document.fonts].filter((face) => face.display === "optional");
      await Promise.allSettled(early.map((face) => face.load()));
      root.style.removeProperty("display");
    });
  } else {
    [...text, ...({{ ('class="katex"' in (body or ""))|tojson }} ? formulas : [])].forEach(fetchEarly);
  }
}
