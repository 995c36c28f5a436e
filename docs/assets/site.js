// Formulas, typeset with KaTeX.
for (const element of document.querySelectorAll(".arithmatex")) {
  const displayMode = element.tagName === "DIV";
  const source = element.textContent.trim().slice(2, -2); // without \( \) or \[ \]
  katex.render(source, element, { displayMode, throwOnError: false });
}

// Frames of the live page, as high as their content.
for (const frame of document.querySelectorAll("figure.live iframe")) {
  frame.addEventListener("load", () => {
    const content = frame.contentDocument?.body;
    if (!content) return; // opened as a file
    const fit = () => { frame.style.height = `${content.scrollHeight + 2}px`; };
    new ResizeObserver(fit).observe(content);
  });
}

// What is wider than the screen scrolls, also by keyboard.
const reachable = () => {
  for (const element of document.querySelectorAll(".md-typeset__scrollwrap, div.arithmatex")) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  }
};
addEventListener("load", reachable);
addEventListener("resize", reachable);

// Names and roles that the theme leaves out, for screen readers.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
addEventListener("load", () => {
  for (const bar of document.querySelectorAll(".md-code__nav")) bar.setAttribute("role", "none");
});
