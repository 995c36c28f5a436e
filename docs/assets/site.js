// Formulas, typeset with KaTeX.
for (const element of document.querySelectorAll(".arithmatex")) {
  const displayMode = element.tagName === "DIV";
  const source = element.textContent.trim().slice(2, -2); // without \( \) or \[ \]
  katex.render(source, element, { displayMode, throwOnError: false });
}

// Frames of the live page, as high as their content.
for (const frame of document.querySelectorAll("figure.live iframe")) {
  const follow = () => {
    const content = frame.contentDocument?.body; // null if opened as a file
    if (!content?.childElementCount) return;
    const fit = () => { frame.style.height = `${content.scrollHeight + 2}px`; };
    new ResizeObserver(fit).observe(content);
  };
  frame.addEventListener("load", follow);
  if (frame.contentDocument?.readyState === "complete") follow();
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
