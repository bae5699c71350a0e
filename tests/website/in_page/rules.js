// What must hold of a page, whatever is on it. A rule returns its faults; `names` says
// which are asked, at the width that the window has.
(names) => {
  const root = document.documentElement;
  const main = document.querySelector("main");
  const all = (what) => [...document.querySelectorAll(what)];
  const box = (what) => (what?.nodeType ? what : document.querySelector(what))?.getBoundingClientRect();
  const shows = (e) => e.checkVisibility({ visibilityProperty: true });
  const style = (e) => getComputedStyle(e);
  const begins = (e) => e.outerHTML.slice(0, 80);
  // Each line of text that one sees, with its box; what is printed in drawings is not there.
  const lines = function* () {
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { data, parentElement: e } = walker.currentNode;
      const range = new Range();
      range.selectNodeContents(walker.currentNode);
      if (!data.trim() || e.closest("svg, .katex, .visually-hidden, noscript, .bench > summary") || !shows(e)) continue;
      for (const it of range.getClientRects()) if (it.width > 1) yield { e, it, text: data.trim().slice(0, 40) };
    }
  };
  const rules = {
    // Scripts that hold up the first paint, by the browser's own account.
    blocking_scripts: () =>
      performance.getEntriesByType("resource")
        .filter((e) => e.initiatorType === "script" && e.renderBlockingStatus === "blocking")
        .map((e) => e.name),

    // MathML without its parts, and TeX in the text: never drawn.
    mathematics() {
      const parts = { msub: 2, msup: 2, mfrac: 2, munder: 2, mover: 2, msubsup: 3, munderover: 3 };
      const halves = all(Object.keys(parts)).filter((e) => e.children.length !== parts[e.localName]);
      const tex = /\\\(|\\\[|\$\$|\\[a-zA-Z]{2,}|\$[^$\s][^$]*\$/;
      const raw = [];
      const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const { data, parentElement } = walker.currentNode;
        if (tex.test(data) && !parentElement.closest(".katex, pre, code, script, style, svg, math")) raw.push(data.trim());
      }
      return [...halves.map(begins), ...raw];
    },

    // A stop that may begin a line, or a bracket that may end one, for want of its formula.
    stops: () =>
      all("main span.math").filter((e) => {
        const drawn = e.querySelector(".katex");
        const alone = [["nextSibling", /^[.,;:!?)]/], ["previousSibling", /\($/]];
        const short = (e.querySelector("annotation")?.textContent.length ?? 0) <= 40;
        return short && alone.some(([side, stop]) => !drawn[side] && stop.test(e[side]?.data));
      }).map((e) => e.parentElement.textContent),

    // Pictures that say nothing, or too little, to somebody who cannot see them.
    alt_texts() {
      const apart = "[aria-hidden=true], [role=presentation], button, summary, a[aria-label]";
      const told = (e) => {
        if (e.localName === "img") return e.alt.length > 40 && !/\.(svg|png)$/.test(e.alt);
        const role = e.querySelector("[role=slider], [role=switch]") ? "group" : "img";
        return e.getAttribute("role") === role && (e.getAttribute("aria-label") ?? "").length > 40;
      };
      return all("main svg, main img")
        .filter((e) => !e.closest(apart) && !e.parentElement.closest("svg") && !told(e))
        .map(begins);
    },

    // A heading that is as large as one above it; in the line of a fold it looks like a line.
    heading_sizes() {
      const found = (level) => all(`main h${level}`).filter((e) => e.checkVisibility() && !e.closest("summary"));
      const size = (e) => parseFloat(style(e).fontSize);
      const levels = [1, 2, 3].map(found).filter((some) => some.length).map((some) => some.map(size));
      return levels.slice(1)
        .map((lower, i) => [Math.min(...levels[i]), Math.max(...lower)])
        .filter(([above, below]) => above <= below)
        .map(([above, below]) => `${above} px above ${below} px`);
    },

    // What stands out on the right and is in no box that can be scrolled or that cuts it off;
    // and tables that go on, on a phone, in a box that does not fade.
    overflow() {
      const width = root.clientWidth;
      const beyond = (e) => box(e).width > 0 && box(e).right > width + 1;
      const boxed = new Map([null, root, document.body].map((e) => [e, false]));
      const inBox = (e) => {
        if (!boxed.has(e)) {
          const { overflowX, position, clipPath, clip } = style(e);
          const own = /auto|scroll/.test(overflowX) || position === "fixed" || clipPath !== "none" || clip !== "auto";
          boxed.set(e, own || inBox(e.parentElement));
        }
        return boxed.get(e);
      };
      const fades = (e) => style(e.parentElement).maskImage !== "none";
      const out = all("main *:not(svg *, .katex *)").filter((e) => beyond(e) && e.checkVisibility() && !inBox(e));
      const long = all("main table").filter((e) => width <= 640 && beyond(e) && !fades(e));
      const wide = root.scrollWidth > width ? [`${root.scrollWidth} px in a window of ${width} px`] : [];
      return [...wide, ...[...out, ...long].map(begins)].slice(0, 5);
    },

    // What is too wide when letters are twice as large.
    letters_twice() {
      root.style.fontSize = "200%";
      const wide = root.scrollWidth > root.clientWidth ? [`${root.scrollWidth} px`] : [];
      root.style.fontSize = "";
      return wide;
    },

    // A drawing that grows or shrinks as it is used: all below it would move. At its end each
    // is as it was found, because "Start again" is its last button.
    jumps: () =>
      all(".pe-explorer.live").filter((root) => {
        const events = (e) => e.matches("button, [role=switch]") ? [new MouseEvent("click")]
          : ["Home", "ArrowRight", "PageDown", "End"].map((key) => new KeyboardEvent("keydown", { key }));
        const used = (e) => events(e).map((event) => (e.dispatchEvent(event), box(root).height));
        const heights = [box(root).height, ...[...root.querySelectorAll(".take:not([hidden]), button")].flatMap(used)];
        return Math.max(...heights) > Math.min(...heights) + 1;
      }).map(begins),

    // What sticks out of a drawing's card; the first page's field is cut off there.
    out_of_cards: () =>
      all(".pe-explorer:not([data-drawing=hero])").flatMap((card) => {
        const { left, right } = box(card);
        return [...card.querySelectorAll("svg, button, output")]
          .filter((e) => e.checkVisibility() && (box(e).left < left - 0.5 || box(e).right > right + 0.5))
          .map(begins);
      }),

    // Letters of a figure that its edge or the window cuts off.
    lettering: () =>
      all("main svg.figure text").filter((e) => {
        const { left, right } = box(e), figure = e.ownerSVGElement, edge = box(figure);
        const cut = style(figure).overflow !== "visible" && (left < edge.left - 1 || right > edge.right + 1);
        return cut || left < -2 || right > innerWidth + 2;
      }).map((e) => e.textContent),

    // Controls of the bar that are missing, or that a finger misses.
    frame() {
      const controls = all(".bar :is(a, button, summary)").filter(shows);
      const small = controls.filter((e) => Math.min(box(e).width, box(e).height) < 43.5);
      const needed = [".brand", ".search-button", ".menu > summary"];
      return [...small.map(begins), ...needed.filter((one) => !controls.some((e) => e.matches(one)))];
    },

    // On a page of the path: where its first picture begins too far down.
    picture_first() {
      const picture = box("main article svg.figure");
      if (!picture) return ["no picture"];
      const end = (innerWidth > 1000 ? 800 : 2 * 844) - scrollY;
      const share = (Math.min(picture.bottom, end) - picture.top) / picture.height;
      return share >= 0.85 ? [] : [`${share} of it on the first screen, or two of a phone`];
    },

    // Where its bench is not: right of all text however far one reads; in a narrow window a
    // strip below the title.
    bench() {
      const own = '.bench > [data-drawing="bench"]';
      const faults = [];
      for (const top of [0, 1500, document.body.scrollHeight]) {
        scrollTo({ top, behavior: "instant" });
        const [title, bench, strip] = ["main h1", own, ".bench > summary"].map(box);
        const beside = bench && bench.left >= title.left + 600 && bench.right <= innerWidth && bench.top >= 0 && bench.bottom <= 800;
        const below = strip && strip.height <= 74 && strip.top > title.top && strip.left >= 0 && strip.right <= innerWidth && bench.height > 0;
        if (!(innerWidth > 1000 ? beside : below)) faults.push(`not there at ${top}`);
      }
      scrollTo({ top: 0, behavior: "instant" });
      return faults;
    },

    // A drawing that is not seen at once with its goal and its answer, between the bars of a
    // small phone.
    tall() {
      const high = (e) => box(e.querySelector("output")).bottom - box(e.querySelector(".goal")).top;
      const shown = all("section:has(> .law) > .panel, .bench > .pe-explorer");
      return innerWidth > 400 ? [] : shown.filter((e) => high(e) > 664 - 44).map((e) => `${high(e)} px: ${begins(e)}`);
    },

    // On paper: what it has no use for, and whether the title is there.
    printing() {
      const printed = (e) => shows(e) && box(e).height > 1 && box(e).bottom + scrollY > 0;
      const unwanted = ".bar, .contents, .skip, .copybtn, .onward, .foot";
      return [...all(unwanted).filter(printed).map(begins), ...(all("h1").some(printed) ? [] : ["no title"])];
    },

    // Code that is cut, or scrolls without the Tab key or, but beside the bench, a fade; what
    // does not keep its columns; and what takes room beside it in its box.
    code() {
      const told = (e) => e.tabIndex === 0 && (style(e).maskImage !== "none" || box(".bench"));
      return [
        ...all(".cell_input pre").filter((e) => e.scrollWidth > e.clientWidth && !told(e)),
        ...all(".cell pre").filter((e) => style(e).whiteSpace !== "pre"),
        ...all(".highlight > pre").filter((e) => box(e.parentElement).height > box(e).height + 2),
      ].map(begins);
    },

    // Letters too small, and lines too long.
    letters: () =>
      [...lines()].filter(({ e, it }) => {
        const small = parseFloat(style(e).fontSize) < 12;
        return small || (it.width > 43 * 16 && !e.closest("pre, dt, h1, .foot"));
      }).map(({ text }) => text),

    // Text that touches the edge of what frames it, by a line or a ground of its own.
    cramped() {
      const paper = style(document.body).backgroundColor;
      const touches = (e, it) => {
        const its = style(e), frame = box(e), ground = its.backgroundColor;
        if (e === document.body || its.overflowX !== "visible") return false;
        const filled = ground !== "rgba(0, 0, 0, 0)" && ground !== paper;
        const near = (side, room, least) => room < least && (filled || parseFloat(its[`border${side}Width`]) > 0);
        const cut = near("Left", it.left - frame.left, 3) || near("Right", frame.right - it.right, 3) ||
          near("Top", it.top - frame.top, 0) || near("Bottom", frame.bottom - it.bottom, 0);
        return (its.display !== "inline" && cut) || (!filled && !/absolute|fixed/.test(its.position) && touches(e.parentElement, it));
      };
      return [...lines()].filter(({ e, it }) => touches(e, it)).map(({ text }) => text);
    },

    // Summaries with more air above them than text, and links that are boxes underlined.
    boxes() {
      const airy = all("main summary").filter((e) => box(e.firstElementChild)?.top - box(e).top > 24);
      const lined = (e) => /grid|flex/.test(style(e).display) && style(e).textDecorationLine !== "none";
      return [...airy, ...all("main a[href], .brand").filter(lined)].map(begins);
    },
  };
  return names.flatMap((name) => rules[name]().map((fault) => `${name}, ${innerWidth} px: ${fault}`));
};
