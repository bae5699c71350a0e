// The reader's cells in the reader's notebook of this chapter: Jupyter opens it, and nbgrader
// finds answers and checks by the names that it knows.
const lines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const download = (name, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

// `changed`: cells, each with what it was and its text. What was a set-up cell of its own is
// part of the notebook's first, and the `values` in it, below their mark, stand in the second.
export const save = async (address, changed, values) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the site has no notebook of this page (${answer.status})`);
  const notebook = await answer.json();
  const named = (name) => notebook.cells.find(({ id }) => id === name);
  for (const { id, source, text } of changed) {
    const part = source.slice(Math.max(source.indexOf(values), 0)).trimEnd();
    const cell = named(id) ?? notebook.cells.find((one) => one.source.join("").includes(part));
    const whole = cell.id === id ? text : cell.source.join("").replace(part, () => text);
    Object.assign(cell, { source: lines(whole), outputs: [], execution_count: null });
  }
  download(address.pathname.split("/").pop(), `${JSON.stringify(notebook, null, 1)}\n`);
};
