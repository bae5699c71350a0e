// For each level of headings in the text: the level, its smallest and its largest letters.
() => {
  const levels = [];
  for (const level of [1, 2, 3]) {
    // A heading that is the line of a fold looks like a line.
    const found = [...document.querySelectorAll(`main h${level}`)].filter(
      (e) => e.checkVisibility() && !e.closest("summary"),
    );
    const sizes = found.map((e) => parseFloat(getComputedStyle(e).fontSize));
    if (sizes.length) levels.push([level, Math.min(...sizes), Math.max(...sizes)]);
  }
  return levels;
};
