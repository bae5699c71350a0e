// Light or dark, before the first paint: what the reader chose, or as the system is.
((root) => {
  let mode = "auto";
  try {
    mode = localStorage.getItem("mode") || mode;
  } catch {
    // A browser may refuse; then the page is as the system is.
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.mode = mode;
  root.dataset.theme = mode === "auto" ? (dark ? "dark" : "light") : mode;
})(document.documentElement);
