// Draw the page in the book's faces, however late they came: for what depends on heights.
async () => {
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      if (rule instanceof CSSFontFaceRule) rule.style.fontDisplay = "block";
  document.body.getBoundingClientRect(); // so that they are asked for
  await document.fonts.ready;
};
