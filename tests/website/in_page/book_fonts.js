// Draw the page in the book's faces, however late they came: for what depends on heights.
async () => {
  const style = document.createElement("style");
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      if (sheet.href && rule instanceof CSSFontFaceRule && rule.style.fontDisplay)
        style.append(
          rule.cssText
            .replace(/optional|swap/, "block")
            .replace(/url\("([^"]+)"\)/, (_, file) => `url("${new URL(file, sheet.href ?? document.baseURI)}")`),
        );
  document.head.append(style);
  document.body.getBoundingClientRect(); // so that they are asked for
  await document.fonts.ready;
};
