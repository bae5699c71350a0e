// "Edit and run" above the first code of a page: nothing is fetched before it is pressed.
// Here is only what must be known before; the rest is in page.js.
"use strict";
{
  const here = document.currentScript.src;
  const box = document.querySelector(".live-start");
  const button = box.querySelector("button");
  const line = box.querySelector("p");
  const { version, page } = box.dataset;

  const disable = (text) => {
    line.textContent = text;
    button.disabled = true;
  };

  if (location.protocol === "file:") {
    disable("Cells run where the book is served: type “make serve” in its folder, and open this page there.");
  } else {
    const { pathname } = new URL("./", here);
    if (kept(`live:${pathname}:${page}`).size) line.append(" Your changes are still here.");
    const answers = [];
    const begin = async (exercise) => {
      if (button.hasAttribute("aria-disabled")) return;
      button.setAttribute("aria-disabled", "true");
      try {
        const module = await import(new URL(`${version}/page.js`, here).href);
        await module.begin(box, new URL("./", here), exercise);
      } catch (error) {
        disable(`The cells of this page could not be started (${error.message}). Reload it to try again.`);
      }
      for (const each of answers) each.remove();
    };
    button.addEventListener("click", () => begin());
    const done = kept(`answered:${pathname}`);
    for (const exercise of document.querySelectorAll(".exercise[id]")) {
      const here = button.cloneNode();
      here.textContent = "Answer here";
      here.addEventListener("click", () => {
        for (const each of answers) each.textContent = "Python comes …";
        begin(exercise.id);
      });
      answers.push(here);
      exercise.append(here);
      if (done.has(exercise.id)) exercise.dataset.answered = "";
    }
  }
}
