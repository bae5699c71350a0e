// The scripts that the browser counts as blocking the first paint.
performance
  .getEntriesByType("resource")
  .filter((e) => e.initiatorType === "script")
  .filter((e) => e.renderBlockingStatus === "blocking")
  .map((e) => e.name);
