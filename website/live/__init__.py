"""Python on the page: what packs it, what runs in the browser, and the scripts."""
