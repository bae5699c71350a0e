// The search dialog's answers: the best pages, each with its best sections and how they
// begin. Arrows go through them, Enter takes the first. No question leaves it empty.
"use strict";
{
  const PAGES = 6;
  const CLOSE = 0.6; // of the score of its page's best section, for one more to be listed
  const dialog = document.querySelector("#search-dialog");
  const field = dialog.querySelector("input");
  const panel = dialog.lastElementChild;
  const index = Find.load(INDEX);

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
  const section = ({ heading, path, excerpt }) => linked(path, made("b", heading), made("span", excerpt));
  const entry = (sections) => {
    const [best, second] = sections;
    const listed = second?.score > CLOSE * best.score ? [best, second] : [best];
    const page = best.path.includes("#") ? [linked(best.path.replace(/#.*/, ""), best.page)] : [];
    return made("li", ...page, ...listed.map(section));
  };
  const about = ([word, near]) =>
    near ? made("p", `No page has “${word}”. Did you mean `, made("i", near), "?") : made("p", `No page has “${word}”.`);
  const elsewhere = () =>
    made("p", "Try another word, or look into the ", linked("book/reference/faq.html", "FAQ"), " or the ",
      linked("book/reference/glossary.html", "glossary"), ".");

  const answer = () => {
    if (!field.value.trim()) return panel.replaceChildren();
    const { meant, pages } = Find.ask(index, field.value);
    const list = made("ol", ...pages.slice(0, PAGES).map(entry));
    panel.replaceChildren(...meant.map(about), pages.length ? list : elsewhere());
    panel.scrollTop = 0;
  };
  dialog.addEventListener("ask", answer);

  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    panel.querySelector("ol b")?.closest("a").click();
  });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const stops = [field, ...panel.querySelectorAll("a")];
    stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
  });
}
