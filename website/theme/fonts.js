// The faces of the text are fetched early, and until they come Times of their width stands
// in: no line moves. From a folder nothing can be fetched early, and waiting is short.
if (location.protocol !== "file:") {
  for (const font of [
    {%- for font, mark in (
      ("fonts/serif", ""), ("fonts/serif-italic", ""), ("fonts/serif-display", ""), ("fonts/code", ""),
      ("katex/fonts/KaTeX_Main-Regular", 'class="katex"'),
      ("katex/fonts/KaTeX_Math-Italic", 'class="katex"'),
      ("katex/fonts/KaTeX_Size1-Regular", "small-op"),
    ) if mark in (body or "") %}"{{ font }}", {% endfor -%}
  ]) {
    const link = document.createElement("link");
    const href = `${document.documentElement.dataset.content_root}_static/${font}.woff2`;
    Object.assign(link, { rel: "preload", as: "font", type: "font/woff2", crossOrigin: "anonymous", href });
    document.head.append(link);
  }
}
