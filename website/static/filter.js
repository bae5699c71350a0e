// Which of some texts hold the words of a question. Where none does, the search takes a
// word for the nearest that some do. `show` gets their numbers, and what was meant.
"use strict";
const filtered = (texts, show) => {
  const plain = texts.map((text) => text.toLowerCase());
  let book;
  let latest;
  return async (question) => {
    latest = question;
    const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const found = [...plain.keys()].filter((id) => words.every((word) => plain[id].includes(word)));
    show(new Set(found), []);
    if (found.length) return;
    await finder();
    book ??= Find.make(texts.map((text, id) => ({ id, text })));
    const { ids, meant } = book.having(question);
    if (latest === question) show(ids, meant);
  };
};
const taken = (meant) => meant.map(([word, near]) => (near ? `, “${word}” taken for “${near}”` : `; none has “${word}”`)).join("");
