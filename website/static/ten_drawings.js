// The ten laws: a dot for each, filled when its drawing has shown it, and kept for next time.
"use strict";
{
  const laws = [...document.querySelectorAll("section:has(> .law)")];
  if (laws.length > 1) {
    const rail = document.createElement("nav"), dots = rail.appendChild(document.createElement("div"));
    const told = rail.appendChild(document.createElement("p"));
    const found = kept("laws-found");
    rail.className = "laws";
    rail.setAttribute("aria-label", "The laws");
    laws.forEach(({ id }) => (dots.appendChild(document.createElement("a")).href = `#${id}`));
    const tell = () => {
      laws.forEach(({ id }, i) => {
        dots.children[i].className = found.has(id) ? "found" : "";
        dots.children[i].textContent = `Law ${i + 1}${found.has(id) ? ", found" : ""}`;
      });
      told.textContent = `Laws ${dots.querySelectorAll(".found").length} of ${laws.length}`;
    };
    tell();
    told.title = "A law is found when you have done what its drawing asks. Only this browser knows.";
    document.querySelector("main").append(rail);
    document.addEventListener("reached", ({ target }) => {
      const law = target.closest("section:has(> .law)");
      if (!law) return;
      found.add(law.id);
      keep("laws-found", found);
      tell();
    });
    const seen = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
      const dot = dots.children[laws.indexOf(target)];
      if (isIntersecting) dot.setAttribute("aria-current", "true");
      else dot.removeAttribute("aria-current");
    }), { rootMargin: "-50% 0px" });
    laws.forEach((section) => seen.observe(section));
  }
}
