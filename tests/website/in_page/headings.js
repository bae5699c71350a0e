// The level and text of every heading that is shown.
[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter((e) => (e.tagName === "H1" || e.closest("main")) && e.checkVisibility())
  .map((e) => [+e.tagName[1], e.textContent.trim()]);
