// Run axe `within` a part of the page: all its rules, or only those of colours. Unless of
// every letter, it asks these once for each way in which letters are set: half of all
// elements are spans of formulas. A formula's letters and a drawing's lines say nothing
// but by the colour they have: MathML and a label speak for them.
async ([within, onlyColours, everyLetter]) => {
  const colours = ["color-contrast", "link-in-text-block"];
  const start = document.querySelector(within);
  const papers = new Map([[null, ""]]);
  const sets = new Map();
  for (const element of document.querySelectorAll("*")) {
    const { parentElement: above } = element;
    const style = getComputedStyle(element);
    const { backgroundColor: paper, backgroundImage: image, opacity } = style;
    const own = [paper, image, opacity].join(" ").replace("rgba(0, 0, 0, 0) none 1", "");
    papers.set(element, papers.get(above) + own);
    const named = [element, above].map((e) => e && `${e.tagName}.${e.getAttribute("class")}`);
    const { color, fontSize, fontWeight, textDecorationLine } = style;
    const around = above && getComputedStyle(above).color;
    const way = [...named, color, fontSize, fontWeight, textDecorationLine, around];
    const holds = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
    if ([...element.childNodes].some(holds) || element.matches("input, select, textarea")) {
      const key = JSON.stringify([...way, papers.get(element)]);
      if (start.contains(element) && !sets.has(key) && element.checkVisibility()) sets.set(key, element);
    }
  }
  const run = (on, rules) =>
    window.axe.run(on, {
      resultTypes: ["violations", "incomplete"],
      selectors: false,
      preload: false,
      ...rules,
    });
  const asked = everyLetter ? start : [...sets.values()];
  const found = [await run(asked, { runOnly: colours })];
  if (!onlyColours) {
    const others = Object.fromEntries(colours.map((rule) => [rule, { enabled: false }]));
    const silent = [".katex-html", "svg[role=img] > *"];
    found.push(await run({ include: [[within]], exclude: silent.map((each) => [each]) }, { rules: others }));
  }
  // Letters in the very colour of their paper it leaves to a person.
  const unseen = ({ any }) => any.some(({ data }) => data?.messageKey === "equalRatio");
  const equal = (rule) => ({ ...rule, nodes: rule.nodes.filter(unseen) });
  return found.flatMap(({ violations, incomplete }) =>
    [...violations, ...incomplete.map(equal).filter(({ nodes }) => nodes.length)].map(
      ({ id, impact, nodes }) =>
        `${id} (${impact}) ${nodes.length} times: ${nodes[0].html.slice(0, 120)}`,
    ),
  );
};
