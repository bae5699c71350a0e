// Keep in `sampled`, of all texts that look alike, two; in `boxes` what scrolls. `before`
// says how often each look was seen on other pages. Returns the same with this page.
(before) => {
  const known = new Map();
  const ground = (e) => {
    if (!e) return "";
    if (!known.has(e)) {
      const style = getComputedStyle(e);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity];
      known.set(
        e,
        ground(e.parentElement) +
          (own.join() === "rgba(0, 0, 0, 0),none,1" ? "" : own.join()),
      );
    }
    return known.get(e);
  };
  const count = new Map(before);
  window.boxes = [];
  window.sampled = [...document.body.querySelectorAll("*:not(svg *)")].filter((e) => {
    const fields = e.matches("input, select, textarea");
    const text = [...e.childNodes].filter((node) => node.nodeType === 3);
    const style = getComputedStyle(e);
    if (e.scrollWidth > e.clientWidth && ["auto", "scroll"].includes(style.overflowX))
      window.boxes.push(e);
    if (!fields && !text.some((node) => node.data.trim())) return false;
    if (!e.checkVisibility()) return false;
    const key = [
      ground(e),
      style.color,
      style.fontSize,
      style.fontWeight,
      style.textShadow,
      fields && e.tagName,
      e.tagName === "A" && [getComputedStyle(e.parentElement).color, style.textDecorationLine],
    ];
    count.set(key.join(), (count.get(key.join()) || 0) + 1);
    return count.get(key.join()) <= 2;
  });
  return [...count];
};
