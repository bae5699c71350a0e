// What the explorer shows for each setting of some of its controls.
(settings) => {
  const root = document.querySelector(".pe-explorer");
  const form = root.querySelector("form");
  const of = (css, name) => [...root.querySelectorAll(css)].map((x) => x.getAttribute(name));
  return settings.map((setting) => {
    for (const [name, value] of Object.entries(setting))
      form.elements[name][typeof value === "boolean" ? "checked" : "value"] = value;
    form.dispatchEvent(new Event("input"));
    return {
      line: root.querySelector(".line").textContent,
      told: [...root.querySelectorAll("dd")].map((x) => x.textContent),
      drawn: of("path.now", "d"),
      moved: of("g.now", "transform"),
      reached: !root.querySelector(".reached").hidden,
    };
  });
};
