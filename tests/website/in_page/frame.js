// What of the frame is missing, or too small for a finger.
(least) => {
  const controls = [...document.querySelectorAll(".bar :is(a, button, summary), .path-progress summary")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }));
  const faults = controls
    .map((e) => [e, e.getBoundingClientRect()])
    .filter(([, box]) => Math.min(box.width, box.height) < least - 0.5)
    .map(([e, box]) => `${box.width} x ${box.height}: ${e.outerHTML.slice(0, 80)}`);
  const needed = [".brand", ".search-button", ".mode-button", ".menu > summary"];
  for (const one of needed) {
    if (!controls.some((e) => e.matches(one))) faults.push(`no ${one}`);
  }
  return faults;
};
