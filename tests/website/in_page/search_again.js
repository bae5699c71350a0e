// Search for something else, as if the page had been opened with it.
(query) => {
  document.getElementById("search-results").replaceChildren();
  Search.performSearch(query);
};
