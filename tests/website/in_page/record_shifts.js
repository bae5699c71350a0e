// Note every layout shift from the start of the page, and what moved.
window.layoutShifts = [];
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) {
    const moved = shift.sources.map((source) => source.node).filter(Boolean);
    const names = moved.map((node) => (node.className || node.nodeName) + "");
    window.layoutShifts.push([shift.value, names.join(", ")]);
  }
}).observe({ type: "layout-shift", buffered: true });
