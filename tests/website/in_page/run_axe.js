// Run axe `within` a part of the page: all its rules, or only those of colours. A drawing's
// lines say nothing but by the colour they have: a label speaks for them.
async ([within, onlyColours]) => {
  const { violations, incomplete } = await window.axe.run(
    { include: [[within]], exclude: [["svg[role=img] > *"]] },
    {
      resultTypes: ["violations", "incomplete"],
      selectors: false,
      preload: false,
      ...(onlyColours && { runOnly: ["color-contrast", "link-in-text-block"] }),
    },
  );
  // Letters in the very colour of their paper it leaves to a person.
  const unseen = ({ any }) => any.some(({ data }) => data?.messageKey === "equalRatio");
  const equal = (rule) => ({ ...rule, nodes: rule.nodes.filter(unseen) });
  return [...violations, ...incomplete.map(equal).filter(({ nodes }) => nodes.length)].map(
    ({ id, impact, nodes }) => `${id} (${impact}) ${nodes.length} times: ${nodes[0].html.slice(0, 120)}`,
  );
};
