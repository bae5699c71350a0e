// What the search knows: how a text is cut into words, which sections answer a question,
// and what of a section is shown. The words that mean the same are in synonyms.js.
"use strict";
const Find = (() => {
  const SILENT = new Set(
    ("a about actually an and any are as at be by can could do does explain explained for from have how i if in is " +
      "it its just me my of on or please really should simply so than that the their them then there these they " +
      "this to versus vs was we what when where which who why will with would you your").split(" "),
  );
  const same = new Map(SAME.trim().split("\n").flatMap((line) => {
    const [many, one] = line.split("=");
    return many.split(",").map((each) => [each.trim(), one.trim()]);
  }));
  const known = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${[...same.keys()].toSorted((a, b) => b.length - a.length).join("|")})(?![\\p{L}\\p{N}_])`, "giu");

  // What is written together, whole and in its parts: "GPT-2" is gpt2, gpt and 2; div_term
  // is divterm, div and term. 10,000 and 10k are 10000. A text has what it says and what
  // that is taken for; a question is what it is taken for.
  const cut = (text, meant = (it) => same.get(it.toLowerCase())) =>
    (text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .replace(/(\d),(?=\d{3})/g, "$1")
      .replace(/\b(\d+)k\b/gi, "$1000")
      .replace(/\b[a-z]+n['’]t\b/gi, "") // "don't" and its kin ask for nothing
      .replace(known, meant)
      .match(/[\p{L}\p{N}_]+(?:[-.'’][\p{L}\p{N}_]+)*/gu) ?? []
    ).map((whole) => {
      const parts = whole.replace(/['’]s$/, "").split(/[-_.'’]+|(?<=[a-z])(?=[A-Z][a-z])/).filter(Boolean);
      return parts.length > 1 ? [parts.join(""), ...parts] : parts;
    });
  const tokenize = (text) => cut(text, (it) => `${it} ${same.get(it.toLowerCase())}`).flat();
  // The same word in the plural, with another ending, in American spelling.
  const stems = new Map();
  const processTerm = (token) => {
    if (!stems.has(token)) stems.set(token, stem(token.toLowerCase()));
    return stems.get(token);
  };
  const stem = (word) => {
    if (SILENT.has(word)) return null;
    const one = word.replace(/trices$/, "trix").replace(/ies$/, "y").replace(/(..[^aius])s$/, "$1");
    if (one.length < 5) return one;
    return one.replace(/iz(?=e|i|a)/, "is").replace(/isation$/, "ise").replace(/(?:ness|ly|(?<=.{5})al)$/, "")
      .replace(/(?:able|ed|e|ing|ion|or)$/, "").replace(/([^aeiouls])\1$/, "$1");
  };
  const OPTIONS = { fields: ["heading", "page", "about", "asked", "text", "code"], tokenize, processTerm };

  const PAGES = 6; // that are listed
  const CLOSE = 0.6; // of the score of its page's best section, for one more to be listed;
                     // the top of a page says what, and a section of it where
  const TITLE = 1.25; // a page is about its title
  const SHARE = 0.75; // so much does it count how much of a question a section has
  const HEADED = 3; // times more for a phrase that has all that was asked, and nothing else
  const MORE = 0.3; // of the next section's score
  const QUIET = /^book\/reference\/(api|bibliography)/; // lists of names come last,
  const QUIETER = 0.3;
  const ANSWERS = "book/reference/faq.html"; // it was written for those who ask
  const PART = 0.3; // of a question, which an answer has at least
  const FIRST = 1e6; // above all that has only some words of the question
  const EXCERPT = 150; // letters

  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  const once = (make) => {
    const made = new Map();
    return (text) => made.get(text) ?? made.set(text, make(text)).get(text);
  };
  const terms = once((text) => [...new Set(cut(text).flat().map(processTerm).filter(Boolean))]);
  const literal = once((text) => cut(text).flat().join(" ").toLowerCase());

  class Book {
    constructor(sections) {
      this.index = new MiniSearch(OPTIONS);
      this.sections = [];
      this.add(sections);
    }
    add(sections) {
      this.sections.push(...sections);
      this.index.addAll(sections);
      this.standing = once((word) => this.index.search(word, { prefix: word.length > 2 }).length);
    }

    stands(word) {
      return this.index.search(word, { prefix: false }).length > 0;
    }

    // The commonest of the words that differ from this one in the fewest letters; a word
    // of four letters or less is near too many.
    nearest(word) {
      for (const fuzzy of [1, 2].filter((edits) => word.length > 4 && edits < word.length / 2.9)) {
        const counts = new Map();
        for (const { terms } of this.index.search(word, { fuzzy, prefix: false })) {
          for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
        }
        if (counts.size) return [...counts].toSorted(([, a], [, b]) => b - a)[0][0];
      }
      return null;
    }

    // Of what is written together the parts, and the whole if it stands in the book; two
    // words in one are taken apart. A word that stands, or begins one, is taken as it is,
    // any other as its nearest.
    read(question) {
      const apart = (word) => {
        for (let i = word.length - 4; i > 3; i--) {
          const two = [word.slice(0, i), word.slice(i)];
          if (two.every((part) => this.stands(part))) return two;
        }
        return [word];
      };
      const tokens = cut(question).flatMap(([whole, ...parts]) => {
        if (parts.length) return this.stands(whole) ? [whole, ...parts] : parts;
        return this.standing(whole) ? [whole] : apart(whole);
      });
      const asked = new Map(tokens.map((token) => [processTerm(token), token]));
      asked.delete(null);
      const meant = new Map([...asked.keys()].filter((word) => !this.standing(word)).map((word) => [word, this.nearest(word)]));
      const wanted = [...asked.keys()].flatMap((word) => (meant.has(word) ? terms(meant.get(word) ?? "") : word));
      return { wanted: [...new Set(wanted)], meant: [...meant].map(([word, near]) => [asked.get(word), near && this.written(near)]) };
    }

    // Whoever has more of the question stands higher, and a rare word of it counts more; so
    // does a heading that has little else, or another way to ask for it, and a heading that
    // is the question is the first. Pages are in the order of their sections, the best of
    // all; an answer is not below the second.
    ask(question) {
      const { meant, wanted } = this.read(question);
      const rare = (word) => Math.log(1 + this.sections.length / this.standing(word));
      const rarity = new Map(wanted.map((word) => [word, rare(word)]));
      const weight = (some) => sum(some.map((word) => rarity.get(word) ?? 0));
      const fit = (phrase) => {
        const all = terms(phrase);
        const both = all.filter((word) => rarity.has(word));
        return (weight(both) / weight(wanted)) * (both.length / all.length || 0);
      };
      const literally = literal(question);
      const scored = (hit) => {
        const section = this.sections[hit.id];
        const { path, heading, asked } = section;
        const share = weight(hit.queryTerms) / weight(wanted);
        let score = hit.score * share ** SHARE * (1 + HEADED * Math.max(...[heading, ...asked].map(fit)));
        if (path === ANSWERS) score *= MORE; // which only lists them
        else if (!path.includes("#")) score *= TITLE;
        if (QUIET.test(path)) score *= QUIETER;
        if (literal(heading) === literally) score += path.startsWith(ANSWERS) ? 2 * FIRST : FIRST;
        return { section, share, score, terms: hit.terms };
      };
      const hits = this.index.search(wanted.join(" "), {
        prefix: (word) => word.length > 2,
        weights: { prefix: 0.25, fuzzy: 0 },
        boost: { heading: 4, page: 4, about: 3, asked: 3, code: 0.7 },
        tokenize: (joined) => joined.split(" "),
        processTerm: (word) => word, // once is enough
      }).map(scored);
      hits.sort((a, b) => b.score - a.score);
      const pages = Map.groupBy(hits, ({ section }) => section.path.replace(/#.*/, ""));
      const whole = (sections) => sum(sections.map(({ score }, i) => score * MORE ** i));
      const order = [...pages.values()].toSorted((a, b) => whole(b) - whole(a));
      const answer = order.findIndex(([{ section, share }]) => section.path.startsWith(ANSWERS) && share > PART);
      if (answer > 1) order.splice(1, 0, ...order.splice(answer, 1));
      const listed = ([best, second]) => (second && (!best.section.path.includes("#") || second.score > CLOSE * best.score) ? [best, second] : [best]);
      return {
        meant,
        pages: order.slice(0, PAGES).map((page) => listed(page).map(({ section, terms }) => ({ ...section, excerpt: excerpt(section, terms) }))),
      };
    }

    // A stem, as a text writes it.
    written(stem) {
      for (const { id } of this.index.search(stem, { prefix: false, processTerm: (each) => each })) {
        const { heading = "", text, code = "" } = this.sections[id];
        const found = tokenize(`${heading} ${text} ${code}`).find((word) => processTerm(word) === stem);
        if (found) return found.toLowerCase();
      }
      return stem;
    }
  }

  // Of a section the sentence with most of what was found, and those behind it, in pieces
  // [text, whether it was found]. One with TeX cannot be read.
  const stemmed = once((word) => tokenize(word).map(processTerm));
  const excerpt = ({ text, about }, terms) => {
    const wanted = new Set(terms);
    const has = (word) => stemmed(word).some((stem) => wanted.has(stem));
    const sentences = (text || about).split(/(?<=[.!?:]”?) (?=[\p{Lu}“])/u);
    const readable = (sentence) => sentence && !sentence.includes("\\");
    const value = (sentence) => (readable(sentence) ? new Set(sentence.split(" ").filter(has).map(processTerm)).size : -1);
    const values = sentences.map(value);
    let at = values.indexOf(Math.max(...values));
    if (values[at] < 0) return [];
    let shown = sentences[at];
    while (readable(sentences[++at]) && shown.length + sentences[at].length < EXCERPT) shown += ` ${sentences[at]}`;
    const all = shown.split(" ");
    const start = shown.length > EXCERPT ? Math.max(0, all.findIndex(has) - 4) : 0;
    let end = start + 1;
    while (end < all.length && all.slice(start, end + 1).join(" ").length < EXCERPT) end++;
    const pieces = all.slice(start, end).map((word) => [word, has(word)]);
    return [...(start ? [["…", false]] : []), ...pieces, ...(end < all.length ? [["…", false]] : [])];
  };
  const make = (sections = []) => new Book(sections);
  return { make };
})();
