// What a visit left in the browser; a page from a folder has no cache.
(async () => {
  localStorage.clear();
  const names = (await window.caches?.keys().catch(() => [])) ?? [];
  await Promise.all(names.map((name) => caches.delete(name)));
})();
