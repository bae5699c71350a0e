// Whether the search has finished.
() => {
  const status = document.querySelector("#search-results .search-summary");
  return status && /did not match|found/.test(status.textContent);
};
