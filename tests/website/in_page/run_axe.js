// Run axe on the page: all its rules, or those that are named.
(rules) =>
  window.axe
    .run(document, {
      resultTypes: ["violations"],
      selectors: false,
      preload: false,
      ...(rules.length && { runOnly: rules }),
    })
    .then(({ violations }) =>
      violations.map(
        ({ id, impact, nodes }) =>
          `${id} (${impact}) ${nodes.length} times: ${nodes[0].html.slice(0, 120)}`,
      ),
    );
