// Wait until the fonts are there and the page was painted with them.
document.fonts.ready.then(
  () =>
    new Promise((done) =>
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))),
    ),
);
