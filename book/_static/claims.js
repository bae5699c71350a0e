// The list of claims, filtered by word, verdict and topic; without script all of it shows.
const entries = [...document.querySelectorAll(".claim-entry")];
if (entries.length > 0) {
  const verdicts = [["", "All"], ["yes", "True"], ["part", "True, if"], ["no", "Not as stated"], ["open", "Open"]];
  const count = (kind) => entries.filter((entry) => !kind || entry.classList.contains(kind)).length;
  const topicOf = (entry) => entry.lastElementChild.textContent.trim();
  const topics = [...new Set(entries.map(topicOf))].sort();
  const form = document.createElement("form");
  form.className = "claim-filter";
  form.setAttribute("role", "search");
  form.setAttribute("aria-label", "Claims");
  form.innerHTML = `<label>Word <input type="search" name="word" autocomplete="off"></label>
    <label>Topic <select name="topic"><option value="">All topics</option></select></label>
    <div role="group" aria-label="Verdict">${verdicts
      .filter(([kind]) => count(kind) > 0)
      .map(([kind, name]) => `<button type="button" aria-pressed="${!kind}" value="${kind}">${name} ${count(kind)}</button>`)
      .join("")}</div>
    <output aria-live="polite"></output>`;
  for (const topic of topics) form.elements.topic.add(new Option(topic));
  entries[0].before(form);
  const buttons = [...form.querySelectorAll("button")];
  let kind = "";
  const show = () => {
    const word = form.elements.word.value.trim().toLowerCase();
    let shown = 0;
    for (const entry of entries) {
      const fits =
        (!kind || entry.classList.contains(kind)) &&
        (!form.elements.topic.value || topicOf(entry) === form.elements.topic.value) &&
        (!word || entry.textContent.toLowerCase().includes(word));
      entry.hidden = !fits;
      shown += fits;
    }
    form.querySelector("output").textContent = `${shown} of ${entries.length} claims`;
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      kind = button.value;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      show();
    });
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  // An address that leads to a hidden claim shows all of them again.
  addEventListener("hashchange", () => {
    form.reset();
    buttons[0].click();
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  });
  show();
}
