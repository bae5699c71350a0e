// Run axe on the whole page without the rules `ids`, or with those rules alone on what sample.js
// kept under the name `part`.
([part, ids]) => {
  if (part && !window[part].length) return [];
  return window.axe
    .run(part ? { include: window[part] } : document, {
      resultTypes: ["violations"],
      selectors: false,
      preload: false,
      ...(part
        ? { runOnly: ids }
        : { rules: Object.fromEntries(ids.map((id) => [id, { enabled: false }])) }),
    })
    .then((result) =>
      result.violations.map(
        ({ id, impact, nodes }) =>
          `${id} (${impact}) ${nodes.length} times: ${nodes[0].html.slice(0, 120)}`,
      ),
    );
};
