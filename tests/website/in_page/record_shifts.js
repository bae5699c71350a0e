// Note every layout shift from the start of the page, and what moved.
window.layoutShifts = [];
const shifting = "layout-shift"; // Chromium's alone
const recorder = new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) {
    const moved = shift.sources.map((source) => source.node).filter(Boolean);
    const names = moved.map((node) => (node.className || node.nodeName) + "");
    window.layoutShifts.push([shift.value, names.join(", ")]);
  }
});
if (PerformanceObserver.supportedEntryTypes.includes(shifting)) recorder.observe({ type: shifting, buffered: true });
