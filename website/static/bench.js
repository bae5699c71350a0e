// The bench of a page: where there is no room beside the text, a strip with the same arrows
// lying down, open until a reader closes it. What was found on a page has its tick on all,
// and a text is as long as on the page before.
"use strict";
{
  const root = document.querySelector('[data-drawing="bench"]'), fold = document.createElement("details");
  fold.className = "bench";
  fold.innerHTML = '<summary><span class="pe-explorer" data-drawing="bench"><svg viewBox="0 0 140 52" aria-hidden="true"></svg></span><span><b></b><small></small></span></summary>';
  root.before(fold);
  fold.append(root);
  const show = () => {
    const { strip, title, sentence } = root.seen;
    fold.querySelector("svg").innerHTML = strip;
    fold.querySelector("b").textContent = title;
    fold.querySelector("small").textContent = sentence;
  };
  root.addEventListener("seen", show);
  show();

  const found = kept("bench-found");
  const tick = () => (root.dataset.found = [...found].join(" "));
  root.addEventListener("reached", () => {
    found.add(root.seen.page);
    keep("bench-found", found);
    tick();
  });
  tick();

  const [words] = kept("bench-words");
  if (Number.isInteger(words) && words > 1 && words < 65) root.dispatchEvent(new CustomEvent("begin", { detail: { words } }));
  root.addEventListener("put", ({ detail }) => keep("bench-words", [detail.words]));

  const wide = matchMedia("(min-width: 80rem)");
  const open = () => (fold.open = wide.matches || !kept("bench-closed").size);
  wide.addEventListener("change", open);
  addEventListener("beforeprint", () => (fold.open = true));
  open();
  fold.firstChild.addEventListener("click", () => keep("bench-closed", fold.open ? ["closed"] : []));
}
