// Run axe `within` a part of the page: all its rules, or in the `dark` those of colours. A
// drawing's lines say nothing but by the colour they have: a label speaks for them.
async ([within, dark]) => {
  // Of what is alike some are enough: most of its time goes to the letters of code.
  const alike = ["pre", ".claim-entry"].flatMap((what) => [...document.querySelectorAll(`${what}:not([hidden])`)].slice(8));
  for (const one of alike) one.hidden = true;
  const { violations, incomplete } = await window.axe.run(
    { include: [[within]], exclude: [["svg[role=img] > *"]] },
    {
      resultTypes: ["violations", "incomplete"],
      selectors: false,
      preload: false,
      ...(dark && { runOnly: ["color-contrast", "link-in-text-block"] }),
    },
  );
  for (const one of alike) one.hidden = false;
  // Letters in the very colour of their paper it leaves to a person; those of 1 px are heard.
  const unseen = ({ any }) => any.some(({ data }) => data?.messageKey === "equalRatio" && !data.fontSize.includes("(1px)"));
  const equal = (rule) => ({ ...rule, nodes: rule.nodes.filter(unseen) });
  const found = [...violations, ...incomplete.map(equal).filter(({ nodes }) => nodes.length)].map(
    ({ id, impact, nodes }) => `${id} (${impact}) ${nodes.length} times: ${nodes[0].html.slice(0, 120)}`,
  );
  const [light] = getComputedStyle(document.body).backgroundColor.match(/\d+/);
  return dark === (light > 127) ? [...found, `the paper has ${light} of 255`] : found;
};
