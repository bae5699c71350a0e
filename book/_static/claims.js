// The list of claims, filtered by word, verdict and topic; without script all of it shows.
"use strict";
{
  const entries = [...document.querySelectorAll(".claim-entry")];
  const verdicts = [["", "All"], ["yes", "True"], ["part", "True, if"], ["no", "Not as stated"], ["open", "Open"]];
  const is = (entry, kind) => !kind || entry.classList.contains(kind);
  const topicOf = (entry) => entry.lastElementChild.firstChild.data.trim();
  const mark = (kind) => document.querySelector(`.claim-marks .${kind || "none"}`)?.outerHTML ?? "";
  const count = (list, item) => list.filter((each) => each === item).length;

  const form = document.createElement("form");
  form.className = "claim-filter";
  form.setAttribute("role", "search");
  form.setAttribute("aria-label", "Claims");
  form.innerHTML = `<label>Word <input type="search" name="word" autocomplete="off"></label>
    <label>Topic <select name="topic"><option value="">All topics</option></select></label>
    <div role="group" aria-label="Verdict">${verdicts
      .filter(([kind]) => entries.some((entry) => is(entry, kind)))
      .map(([kind, name]) => `<button type="button" value="${kind}">${mark(kind)}${name} <b></b></button>`)
      .join("")}</div>
    <p><output></output> <button type="reset" hidden>Show all</button></p>`;
  const { word, topic } = form.elements;
  const topics = entries.map(topicOf);
  for (const name of [...new Set(topics)].toSorted()) {
    topic.add(new Option(`${name} (${count(topics, name)})`, name));
  }
  const buttons = [...form.querySelectorAll("[role=group] button")];
  const output = form.querySelector("output");
  const all = form.querySelector("[type=reset]");
  let kind = "";

  const show = () => {
    const wanted = word.value.trim().toLowerCase();
    const found = entries.filter(
      (entry) =>
        (!topic.value || topicOf(entry) === topic.value) &&
        (!wanted || entry.textContent.toLowerCase().includes(wanted)),
    );
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.value === kind));
      button.lastElementChild.textContent = found.filter((entry) => is(entry, button.value)).length;
    }
    const shown = new Set(found.filter((entry) => is(entry, kind)));
    for (const entry of entries) entry.hidden = !shown.has(entry);
    output.textContent = `${shown.size} of ${entries.length} claims`;
    all.hidden = shown.size === entries.length;
  };
  const reset = () => {
    kind = word.value = topic.value = "";
    show();
  };

  for (const button of buttons) {
    button.addEventListener("click", () => {
      kind = button.value;
      show();
    });
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    reset();
    word.focus();
  });

  // An address that leads to a hidden claim shows all of them again.
  const lead = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest(".claim-entry[hidden]")) return;
    reset();
    target.scrollIntoView();
  };
  addEventListener("hashchange", lead);

  // Its link marks a claim, and is ready to be pasted.
  for (const link of document.querySelectorAll(".claim-entry > p:last-child a")) {
    link.addEventListener("click", () => {
      navigator.clipboard?.writeText(link.href).then(
        () => {
          output.textContent = link.textContent = "Link copied";
        },
        () => {}, // then the address bar has it
      );
    });
  }

  show();
  entries[0].before(form);
}
