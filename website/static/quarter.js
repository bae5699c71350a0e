// The ten laws: a dot for each beside the page, filled when its drawing has shown it.
"use strict";
{
  const laws = [...document.querySelectorAll("section:has(> .law)")];
  if (laws.length > 1) {
    const rail = document.createElement("nav"), found = new Set();
    rail.className = "laws";
    rail.setAttribute("aria-label", "The laws");
    const dots = laws.map((section, i) => {
      const dot = document.createElement("a");
      dot.href = `#${section.id}`;
      dot.textContent = `Law ${i + 1}`;
      rail.append(dot);
      return dot;
    });
    const told = rail.appendChild(document.createElement("p"));
    const tell = () => (told.textContent = `${found.size} / ${laws.length}`);
    tell();
    document.querySelector("main").append(rail);
    document.addEventListener("reached", ({ target }) => {
      const i = laws.indexOf(target.closest("section:has(> .law)"));
      if (i < 0) return;
      found.add(i);
      dots[i].className = "found";
      dots[i].textContent = `Law ${i + 1}, found`;
      tell();
    });
    const seen = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
      const dot = dots[laws.indexOf(target)];
      if (isIntersecting) dot.setAttribute("aria-current", "true");
      else dot.removeAttribute("aria-current");
    }), { rootMargin: "-50% 0px" });
    laws.forEach((section) => seen.observe(section));
  }
}
