// The search dialog's answers: the best pages, each with its best sections and what of
// them was found. Arrows go through them, Enter takes the first; the way back from an
// answer leads to the question. No question leaves it empty.
"use strict";
{
  const dialog = document.querySelector("#search-dialog");
  const field = dialog.querySelector("input");
  const panel = dialog.lastElementChild;
  const book = Find.make();
  let known = 0; // of the sections: they come a few at a time, and letters between them

  const made = (name, ...inside) => {
    const element = document.createElement(name);
    element.append(...inside);
    return element;
  };
  const linked = (path, ...inside) => {
    const link = made("a", ...inside);
    link.href = document.documentElement.dataset.content_root + path;
    return link;
  };
  const excerpt = (pieces) => made("span", ...pieces.flatMap(([word, found]) => [found ? made("mark", word) : word, " "]));
  const section = ({ heading, path, excerpt: pieces }) => linked(path, made("b", heading), excerpt(pieces));
  const entry = (sections) => {
    const [best] = sections;
    const page = best.path.includes("#") ? [linked(best.path.replace(/#.*/, ""), best.page)] : [];
    return made("li", ...page, ...sections.map(section));
  };
  const about = ([word, near]) =>
    near ? made("p", `No page has “${word}”. Did you mean `, made("i", near), "?") : made("p", `No page has “${word}”.`);
  const elsewhere = () =>
    made("p", "Try another word, or look into the ", linked("book/reference/faq.html", "FAQ"), " or the ",
      linked("book/reference/glossary.html", "glossary"), ".");

  const answer = () => {
    if (!field.value.trim()) return panel.replaceChildren();
    if (known < SECTIONS.length) return panel.replaceChildren(made("p", "Reading the book …"));
    const { meant, pages } = book.ask(field.value);
    const list = made("ol", ...pages.map(entry));
    panel.replaceChildren(...meant.map(about), pages.length ? list : elsewhere());
    panel.scrollTop = 0;
  };
  const learn = () => {
    book.add(SECTIONS.slice(known, (known += 25)));
    if (known < SECTIONS.length) setTimeout(learn);
    else answer();
  };
  learn();
  dialog.addEventListener("ask", answer);

  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    panel.querySelector("ol b")?.closest("a").click();
  });
  dialog.querySelector(".to-list").addEventListener("click", () => (panel.querySelector("a") ?? field).focus());
  panel.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    dialog.close(); // an answer may be on this page
    if (link.href === location.href.replace(/#.*/, "")) {
      event.preventDefault(); // it is this page
      scrollTo(0, 0);
    } else history.replaceState({ ...history.state, question: field.value }, "");
  });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const stops = [field, ...panel.querySelectorAll("a")];
    stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
  });
}
