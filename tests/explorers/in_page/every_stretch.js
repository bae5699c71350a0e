// What the explorer shows for every rule, factor, base and trained length.
() => {
  const root = document.querySelector(".pe-explorer");
  const { elements } = root.querySelector("form"),
    seen = [];
  const last = (name) => +elements[name].max;
  for (const { value: rule } of elements.rule)
    for (let s = 0; s <= last("s"); s++)
      for (let base = 0; base <= last("base"); base++)
        for (let L = 0; L <= last("L"); L++) {
          elements.rule.value = rule;
          Object.entries({ s, base, L }).forEach(([name, value]) => (elements[name].value = value));
          elements.s.form.dispatchEvent(new Event("input"));
          const now = [...root.querySelectorAll(".plot .now")].map((path) => path.getAttribute("d"));
          const line = root.querySelector(".line").textContent;
          seen.push([rule, s, base, L, now, line, !root.querySelector(".reached").hidden]);
        }
  return seen;
};
