// The reader's cells in the notebook that a student of this chapter gets: Jupyter opens it,
// and nbgrader and otter find the answers in the cells that they know by name.
const lines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const download = (name, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

// `texts`: a Map from the id of a changed cell to its text.
export const save = async (address, texts) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the site has no notebook of this page (${answer.status})`);
  const notebook = await answer.json();
  for (const cell of notebook.cells.filter(({ id }) => texts.has(id))) {
    Object.assign(cell, { source: lines(texts.get(cell.id)), outputs: [], execution_count: null });
  }
  download(address.pathname.split("/").pop(), `${JSON.stringify(notebook, null, 1)}\n`);
};
