// The two fonts of nearly every formula, early, so that no line moves when they come.
// From a folder a browser refuses to fetch them this way, and needs no hurry.
if (location.protocol !== "file:") {
  for (const font of ["Main-Regular", "Math-Italic"]) {
    const link = document.createElement("link");
    link.rel = "preload";
    link.as = "font";
    link.type = "font/woff2";
    link.crossOrigin = "anonymous";
    const root = document.documentElement.dataset.content_root;
    link.href = `${root}_static/katex/fonts/KaTeX_${font}.woff2`;
    document.head.append(link);
  }
}
