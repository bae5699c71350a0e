// Light or dark, before the first paint: what the reader chose, or as the system is.
((root) => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    let mode;
    try {
      mode = localStorage.getItem("mode");
    } catch {
      // A browser may refuse; then the page is as the system is.
    }
    if (mode !== "light" && mode !== "dark") mode = dark.matches ? "dark" : "light";
    root.dataset.theme = mode;
  };
  show();
  dark.addEventListener("change", show);
})(document.documentElement);
