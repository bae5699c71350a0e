// "Edit and run" above the first cell of a page: nothing is fetched before it is pressed.
// Here is only what must be known before; the rest is in page.js.
"use strict";
{
  const here = document.currentScript.src;
  const box = document.querySelector(".live-start");
  const button = box.querySelector("button");
  const line = box.querySelector("p");
  const exercises = [...document.querySelectorAll(".exercise[id]")];
  let done = 0;
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
      const kept = Object.keys(localStorage).some((key) => key.startsWith(`live:${page}:`));
      if (kept) line.append(" Your changes are still here.");
      for (const one of exercises) {
        if (localStorage.getItem(`done:${page}:${one.id}`) === null) continue;
        const mark = document.createElement("span");
        mark.className = "live-done";
        mark.textContent = "✓ done";
        one.querySelector(".admonition-title").append(mark);
        done += 1;
      }
      if (done) line.append(` ${done} of ${exercises.length} exercises done.`);
      caches.match(new URL(`engine/${cache.slice(5)}.wasm.gz`, here), { cacheName: cache }).then(
        (there) => there && line.firstChild.replaceWith("Python is already in this browser."),
        () => {}, // it may refuse to keep anything
      );
    } catch {
      // So may this.
    }
    let started = false;
    const start = async (label) => {
      if (started) return;
      started = true;
      button.setAttribute("aria-disabled", "true");
      try {
        const { begin } = await import(new URL(`${version}/page.js`, here).href);
        await begin(box, new URL("./", here), label);
      } catch (error) {
        disable(`The cells of this page could not be started (${error.message}). Reload it to try again.`);
      }
    };
    button.addEventListener("click", () => start());
    for (const { id, lastElementChild: inside } of exercises) {
      const place = document.createElement("div");
      const answer = button.cloneNode();
      place.className = "live-answer";
      answer.textContent = "Answer here";
      answer.addEventListener("click", () => start(id));
      place.append(answer);
      inside.after(place);
    }
  }
}
