// "Edit and run" above the first code of a page: nothing is fetched before it is pressed.
// Here is only what must be known before; the rest is in page.js.
"use strict";
{
  const here = document.currentScript.src;
  const box = document.querySelector(".live-start");
  const button = box.querySelector("button");
  const line = box.querySelector("p");
  const { version, page, cache } = box.dataset;

  // CPython throws exceptions inside WebAssembly: a module that declares one, and no more.
  const thrower = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 13, 3, 1, 0, 0];
  const able = () =>
    "DecompressionStream" in window &&
    "compileStreaming" in (window.WebAssembly ?? {}) &&
    WebAssembly.validate(new Uint8Array(thrower));

  const disable = (text) => {
    line.textContent = text;
    button.disabled = true;
  };

  if (location.protocol === "file:") {
    disable("Cells run where the book is served: type “make serve” in its folder, and open this page there.");
  } else if (!able()) {
    disable("This browser is too old to run Python; the page as it stands was proved.");
  } else {
    try {
      const start = `live:${new URL("./", here).pathname}:${page}:`;
      if (Object.keys(localStorage).some((key) => key.startsWith(start))) line.append(" Your changes are still here.");
      caches.match(new URL(`engine/${cache.slice(5)}.wasm.gz`, here), { cacheName: cache }).then(
        (there) => there && line.firstChild.replaceWith("Python is already in this browser."),
        () => {}, // it may refuse to keep anything
      );
    } catch {
      // So may this.
    }
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
    const done = kept(`answered:${new URL("./", here).pathname}`);
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
