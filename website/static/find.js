// What the search knows: how a text is cut into words, and which sections answer a
// question. The build makes the index with this file, and the reader's browser asks it.
"use strict";
const Find = (() => {
  const SILENT = new Set(
    ("a about an and any are as at be by can could do does for from have how i if in is it its me my " +
      "of on or should so than that the their them then there these they this to versus vs was we what when " +
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
    const one = word.replace(/trices$/, "trix").replace(/ies$/, "y").replace(/(..[^aius])s$/, "$1");
    return one.length > 4 ? one.replace(/iz(?=e|i|a)/, "is").replace(/(?:ness|ly)$/, "").replace(/(?:able|ed|e|ing|ion|or)$/, "") : one;
  };
  const OPTIONS = {
    fields: ["heading", "page", "about", "text", "code"],
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

  const TITLE = 2; // a page is about its title
  const MORE = 0.3; // of the next section's score
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

  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

  // Of what is written together the whole, if it stands in the book, else its parts; two
  // words in one are taken apart. A word that stands, or begins one, is taken as it is,
  // any other as its nearest. Whoever has more of the question stands higher, and a rare
  // word of it counts more. Pages are in the order of their sections, the best of all.
  const ask = (index, question) => {
    const standing = (word, prefix = word.length > 2) => index.search(word, { prefix }).length;
    const apart = (word) => {
      for (let i = word.length - 4; i > 3; i--) {
        const two = [word.slice(0, i), word.slice(i)];
        if (two.every((part) => standing(part, false))) return two;
      }
      return [word];
    };
    const tokens = cut(question).flatMap(([whole, ...parts]) => {
      if (parts.length) return standing(whole, false) ? [whole, ...parts] : parts;
      return standing(whole) ? [whole] : apart(whole);
    });
    const asked = new Map(tokens.map((token) => [processTerm(token), token]));
    asked.delete(null);
    const meant = new Map([...asked.keys()].filter((word) => !standing(word)).map((word) => [word, nearest(index, word)]));
    const words = [...asked.keys()].map((word) => (meant.has(word) ? meant.get(word) : word)).filter(Boolean);
    const rarity = new Map(words.map((word) => [word, Math.log(1 + index.documentCount / standing(word))]));
    const share = (some) => sum(some.map((word) => rarity.get(word) ?? 0)) / sum([...rarity.values()]);
    const found = index.search(words.join(" "), {
      boost: { heading: 3, page: 2, about: 3, code: 0.7 },
      prefix: (word) => word.length > 2,
      weights: { prefix: 0.4, fuzzy: 0 },
      tokenize: (joined) => joined.split(" "),
      processTerm: (word) => word, // once is enough
    });
    const pages = new Map();
    for (const section of found) {
      const { path, queryTerms } = section;
      section.score *= share(queryTerms);
      if (!path.includes("#")) section.score *= TITLE;
      if (path.startsWith("book/reference/api")) section.score *= LIBRARY;
      const page = path.replace(/#.*/, "");
      pages.set(page, [...(pages.get(page) ?? []), section]);
    }
    const order = (a, b) => b.score - a.score;
    for (const sections of pages.values()) sections.sort(order);
    const whole = (sections) => sum(sections.map(({ score }, i) => score * MORE ** i));
    const asRead = (stem) => found.map(({ heading, page, excerpt }) => `${heading} ${page} ${excerpt}`)
      .flatMap((text) => text.match(/[\p{L}\p{N}_]+/gu) ?? []).find((word) => processTerm(word) === stem) ?? stem;
    return {
      meant: [...meant].map(([word, stem]) => [asked.get(word), stem && asRead(stem).toLowerCase()]),
      pages: [...pages.values()].toSorted((a, b) => whole(b) - whole(a)),
    };
  };
  return { ask, load, make };
})();
