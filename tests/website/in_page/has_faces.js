// Whether the text and the formulas are in their own faces: as wide as no stand-in.
["PE Text", "KaTeX_Main"].map((face) => {
  const [own, other] = [`"${face}", monospace`, "monospace"].map((family) => {
    const line = document.body.appendChild(document.createElement("span"));
    Object.assign(line.style, { fontFamily: family, position: "absolute" });
    line.textContent = "Positional";
    const { width } = line.getBoundingClientRect();
    line.remove();
    return width;
  });
  return own !== other;
});
