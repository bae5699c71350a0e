// Search for something else, as if the page had been opened with it.
/* global Search */
(query) => {
  document.getElementById("search-results").replaceChildren();
  Search.performSearch(query);
};
