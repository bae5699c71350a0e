// What the search knows: how a text is cut into words, and which sections answer a
// question. The build makes the index with this file, and the reader's browser asks it.
"use strict";
const Find = (() => {
  const SILENT = new Set(
    ("a about an and any are as at be by can could do does for from have how i if in is it its me my " +
      "of on or should so than that the their them then there these they this to was we what when " +
      "where which who why will with would you your").split(" "),
  );

  // What is written together, whole and in its parts: "GPT-2" is gpt2, gpt and 2; div_term
  // is divterm, div and term. 10,000 and 10k are 10000.
  const cut = (text) =>
    (text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .replace(/(\d),(?=\d{3})/g, "$1")
      .replace(/\b(\d+)k\b/gi, "$1000")
      .match(/[\p{L}\p{N}_]+(?:[-.'’][\p{L}\p{N}_]+)*/gu) ?? []
    ).map((whole) => {
      const parts = whole.replace(/['’]s$/, "").split(/[-_.'’]+|(?<=[a-z])(?=[A-Z][a-z])/).filter(Boolean);
      return parts.length > 1 ? [parts.join(""), ...parts] : parts;
    });
  const tokenize = (text) => cut(text).flat();
  // The same word in the plural, with another ending, in American spelling.
  const processTerm = (token) => {
    const word = token.toLowerCase();
    if (SILENT.has(word)) return null;
    const one = word.replace(/trices$/, "trix").replace(/ies$/, "y").replace(/([^aius])s$/, "$1");
    return one.length > 4 ? one.replace(/iz(?=e|i|a)/, "is").replace(/(?:able|ed|e|ing|ion|or)$/, "") : one;
  };
  const wordsOf = (text) => tokenize(text).map(processTerm).filter(Boolean);
  const OPTIONS = {
    fields: ["heading", "page", "text", "code"],
    storeFields: ["path", "heading", "page", "excerpt"],
    tokenize,
    processTerm,
  };

  const make = (sections) => {
    const index = new MiniSearch(OPTIONS);
    index.addAll(sections);
    return JSON.stringify(index);
  };
  const load = (json) => MiniSearch.loadJSON(json, OPTIONS);

  const TITLE = 1.4; // a page is about its title
  const LIBRARY = 0.6; // and the list of names comes last

  // The commonest of the words that differ from this one in the fewest letters.
  const nearest = (index, word) => {
    for (const fuzzy of [1, 2].filter((edits) => edits < word.length / 2.9)) {
      const counts = new Map();
      for (const { terms } of index.search(word, { fuzzy, prefix: false })) {
        for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
      }
      if (counts.size) return [...counts].toSorted(([, a], [, b]) => b - a)[0][0];
    }
    return null;
  };

  // A word that stands in the book, or begins one, is taken as it is, any other as its
  // nearest; of what is written together the whole, if it stands. Whoever has more of the
  // question stands higher, and so does a heading that the question has more of. Pages
  // are in the order of their best sections.
  const ask = (index, question) => {
    const stands = (word, prefix = word.length > 2) => index.search(word, { prefix }).length > 0;
    const tokens = cut(question).flatMap(([whole, ...parts]) => (!parts.length || stands(whole, false) ? [whole] : parts));
    const asked = new Map(tokens.map((token) => [processTerm(token), token]));
    asked.delete(null);
    const meant = new Map([...asked.keys()].filter((word) => !stands(word)).map((word) => [word, nearest(index, word)]));
    const words = [...asked.keys()].map((word) => (meant.has(word) ? meant.get(word) : word)).filter(Boolean);
    const found = index.search(words.join(" "), {
      boost: { heading: 4, page: 2, code: 0.7 },
      prefix: (word) => word.length > 2,
      weights: { prefix: 0.4, fuzzy: 0 },
      tokenize: (joined) => joined.split(" "),
      processTerm: (word) => word, // once is enough
    });
    const pages = new Map();
    for (const section of found) {
      const { heading, path, queryTerms } = section;
      const named = wordsOf(heading);
      const shared = named.filter((word) => queryTerms.includes(word)).length / (named.length || 1);
      section.score *= (queryTerms.length / words.length) * (1 + 2 * shared);
      if (!path.includes("#")) section.score *= TITLE;
      if (path.startsWith("book/reference/api")) section.score *= LIBRARY;
      const page = path.replace(/#.*/, "");
      pages.set(page, [...(pages.get(page) ?? []), section]);
    }
    const order = (a, b) => b.score - a.score;
    for (const sections of pages.values()) sections.sort(order);
    const asRead = (stem) => found.map(({ heading, page, excerpt }) => `${heading} ${page} ${excerpt}`)
      .flatMap((text) => text.match(/[\p{L}\p{N}_]+/gu) ?? []).find((word) => processTerm(word) === stem) ?? stem;
    return {
      meant: [...meant].map(([word, stem]) => [asked.get(word), stem && asRead(stem).toLowerCase()]),
      pages: [...pages.values()].toSorted(([a], [b]) => order(a, b)),
    };
  };
  return { ask, load, make };
})();
