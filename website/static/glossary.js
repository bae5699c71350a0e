// A word's meaning where it stands: under the mouse, by keyboard, at a first tap (the
// second one follows the link). Escape, a scroll or a tap elsewhere takes it away. On the
// glossary's own page a filter: words whose name or meaning has what was typed.
"use strict";
const form = document.querySelector(".word-filter");
if (form) {
  const entries = [...document.querySelectorAll("dl.words > div")];
  const output = form.querySelector("output");
  const filter = filtered(entries.map((entry) => entry.textContent), (ids, meant) => {
    for (const [id, entry] of entries.entries()) entry.hidden = !ids.has(id);
    output.textContent = ids.size < entries.length || meant.length ? `${ids.size} of ${entries.length} words${taken(meant)}` : "";
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target }) => filter(target.value));
}
for (const link of document.querySelectorAll('a[aria-describedby^="word-"]')) {
  const note = document.getElementById(link.getAttribute("aria-describedby"));
  if (!note?.showPopover) continue;
  const isOpen = () => note.matches(":popover-open");
  const hide = () => isOpen() && note.hidePopover();
  const show = () => {
    if (isOpen()) return;
    note.showPopover();
    const at = link.getClientRects()[0];
    const { width, height } = note.getBoundingClientRect();
    const below = at.bottom + height < innerHeight;
    note.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
    note.style.top = `${below ? at.bottom + 2 : at.top - height - 2}px`;
  };
  const leave = () =>
    setTimeout(() => {
      if (!link.matches(":hover, :focus-visible") && !note.matches(":hover")) hide();
    }, 150);
  link.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && show());
  link.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && leave());
  note.addEventListener("pointerleave", leave);
  link.addEventListener("focus", () => link.matches(":focus-visible") && show());
  link.addEventListener("blur", leave);
  link.addEventListener("click", (event) => {
    if (event.pointerType !== "touch" || isOpen()) return;
    event.preventDefault();
    show();
  });
  addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  addEventListener("scroll", hide, { passive: true });
  addEventListener("pointerdown", ({ target }) => {
    if (!link.contains(target) && !note.contains(target)) hide();
  });
}
