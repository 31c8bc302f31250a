"use strict";
// The rest of the page: theme, copying, folding, printing.

const groups = new Map();
for (const element of document.querySelectorAll(".graphs")) groups.set(element, new Group(element));

for (const button of document.querySelectorAll(".episode .show, .calls .show")) {
  const group = groups.get(button.closest(".trial").querySelector(".graphs"));
  if (!group) continue;
  button.hidden = false;
  button.addEventListener("click", () => {
    group.stretch(button);
    group.element.scrollIntoView();
  });
}

for (const close of document.querySelectorAll(".close-up")) {
  const group = groups.get(close.closest(".graphs"));
  close.querySelector("svg").addEventListener("click", () => {
    group.stretch(close);
    group.element.scrollIntoView();
  });
}

// A name in a legend hides and shows its layer.
for (const key of document.querySelectorAll(".graphs .legend .key")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = key.className;
  button.dataset.layer = key.dataset.layer;
  button.textContent = key.textContent;
  button.setAttribute("aria-pressed", "true");
  button.addEventListener("click", () => {
    const off = button.getAttribute("aria-pressed") === "true";
    button.setAttribute("aria-pressed", String(!off));
    const figure = button.closest("figure");
    figure.querySelector(`.plane .${button.dataset.layer}`)?.classList.toggle("off", off);
    groups.get(figure.closest(".graphs"))?.later();
  });
  key.replaceWith(button);
}

for (const button of document.querySelectorAll(".copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch { // not allowed for pages from a file: select it for the reader instead
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
      return;
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

const theme = document.querySelector(".bar .theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
theme.hidden = false;
theme.addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("tcplab-theme", next); } catch { /* then not remembered */ }
  nameTheme();
});
dark.addEventListener("change", nameTheme);
nameTheme();

/** Unfolds whatever holds the place the address names. */
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfold);
if (location.hash) unfold();

// Trials stay as folded as the reader left them; the metrics and warnings unfold for paper.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details.more:not([open])")];
  for (const fold of folded) fold.open = true;
  for (const group of groups.values()) { for (const graph of group.graphs) graph.layout(1000); group.draw(); }
});
addEventListener("afterprint", () => {
  for (const fold of folded) fold.open = false;
  for (const group of groups.values()) group.resize();
});
