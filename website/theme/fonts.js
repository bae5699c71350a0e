// The faces of the text are fetched early, and until they come Times of their width stands
// in: no line moves. From a folder nothing can be fetched early, and waiting is short.
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
  const needed = [
    {%- for font, mark in (
      ("fonts/serif", ""), ("fonts/serif-italic", ""), ("fonts/serif-display", ""), ("fonts/code", ""),
      ("katex/fonts/KaTeX_Main-Regular", 'class="katex"'),
      ("katex/fonts/KaTeX_Math-Italic", 'class="katex"'),
      ("katex/fonts/KaTeX_Size1-Regular", "small-op"),
    ) if mark in (body or "") %}"{{ font }}", {% endfor -%}
  ];
  if (location.protocol === "file:") {
    root.style.display = "none";
    addEventListener("DOMContentLoaded", async () => {
      const early = [...document.fonts].filter((face) => face.display !== "auto");
      await Promise.allSettled(early.map((face) => face.load()));
      root.style.removeProperty("display");
      // A hidden page could not go where its address leads.
      document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
    });
  } else {
    needed.forEach(fetchEarly);
  }
}
