"use strict";
// The rest of the page: theme, copying, folding, printing.

const groups = new Map();

/** Makes a part of the page interactive: graphs, legends, buttons, menus. Folded parts wait until they are opened. */
function prepare(part) {
  const all = (selector) => [...part.querySelectorAll(selector)].filter((it) => !it.closest("details.trial:not([open])"));
  for (const element of all(".graphs")) if (!groups.has(element)) groups.set(element, new Group(element));
  for (const button of all(".episode .show, .calls .show")) {
    const group = groups.get(button.closest(".trial").querySelector(".graphs"));
    if (!group || !button.hidden) continue;
    button.hidden = false;
    button.addEventListener("click", () => {
      group.stretch(button);
      group.element.scrollIntoView();
    });
  }
  for (const close of all(".close-up:not(.ready)")) {
    close.classList.add("ready");
    const group = groups.get(close.closest(".graphs"));
    close.querySelector("svg.pane").addEventListener("click", () => {
      group.stretch(close);
      group.element.scrollIntoView();
    });
  }
  for (const key of all(".graphs .legend span.key[data-layer]")) switchFor(key);
  for (const choice of all(".ways[hidden]")) chooseWith(choice);
  for (const control of all(".average[hidden]")) averageWith(control);
  for (const fold of all("details.packets:not(.ready)")) linkFrames(fold);
  for (const figure of all("figure")) addMenu(figure);
  for (const button of all(".copy")) if (button.hidden) copyWith(button);
}

// A name in a legend hides and shows its layer.
function switchFor(key) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = key.className;
  button.dataset.layer = key.dataset.layer;
  button.textContent = key.textContent;
  button.setAttribute("aria-pressed", String(!("off" in key.dataset)));
  button.addEventListener("click", () => {
    const off = button.getAttribute("aria-pressed") === "true";
    button.setAttribute("aria-pressed", String(!off));
    const figure = button.closest("figure");
    figure.querySelector(`.plane .${button.dataset.layer}`)?.classList.toggle("off", off);
    groups.get(figure.closest(".graphs"))?.later();
  });
  key.replaceWith(button);
}

/** Buttons for the ways to draw a figure, of which one is shown. */
function chooseWith(choice) {
  choice.hidden = false;
  const buttons = [...choice.children], figure = choice.closest("figure");
  const ways = [...figure.querySelectorAll(":scope > .way")];
  buttons.forEach((button, at) => {
    button.addEventListener("click", () => {
      ways.forEach((way, i) => { way.hidden = i !== at; });
      buttons.forEach((it, i) => it.setAttribute("aria-pressed", String(i === at)));
      figure.querySelector(".title").textContent = button.dataset.title;
    });
  });
}

function copyWith(button) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch { // there is none without encryption: what is selected can be copied
      getSelection().selectAllChildren(code);
      if (!document.execCommand("copy")) {
        button.textContent = "Selected";
        return;
      }
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

/** Bytes from deflated Base64 text. */
async function unpacked(text) {
  const letters = atob(text.trim());
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/** Unpacks a trial into its fold, once; returns a promise. */
function unpack(fold) {
  const packed = fold.querySelector(":scope > script.packed");
  if (packed) {
    fold.unpacking = unpacked(packed.textContent).then((bytes) => {
      fold.insertAdjacentHTML("beforeend", new TextDecoder().decode(bytes));
      prepare(fold);
    });
    packed.remove();
  }
  return fold.unpacking ?? Promise.resolve();
}

document.addEventListener("toggle", (event) => {
  const fold = event.target;
  if (!fold.open || !fold.matches("details")) return;
  if (fold.matches("details.trial")) unpack(fold);
  prepare(fold);
}, true);
prepare(document);

const theme = document.querySelector(".bar .theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
theme.hidden = false;
theme.addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("tcplab-theme", next); } catch { /* not stored */ }
  nameTheme();
});
// The page of tcplab that shows this report in a frame has a theme of its own.
addEventListener("message", ({ source, data }) => {
  if (source !== parent || !["light", "dark"].includes(data?.tcplabTheme)) return;
  document.documentElement.dataset.theme = data.tcplabTheme;
  nameTheme();
});
dark.addEventListener("change", nameTheme);
nameTheme();

/** Opens the folds around the place that the address names, unpacking first. */
async function unfold() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (!name) return;
  if (!document.getElementById(name)) {
    const trial = [...document.querySelectorAll("details.trial")].find((it) => it.id && name.startsWith(`${it.id}-`));
    if (trial) await unpack(trial);
  }
  const target = document.getElementById(name);
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfold);
if (location.hash) unfold();

// A print is short: what is folded and the variants are left out. With details, metrics and
// warnings unfold, and trials stay as they are.
for (const button of document.querySelectorAll(".prints button")) {
  button.parentElement.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.print = button.dataset.print;
    print();
  });
}
let folded = [];
addEventListener("beforeprint", () => {
  if (document.documentElement.dataset.print === "all") folded = [...document.querySelectorAll("details.more:not([open])")];
  for (const fold of folded) fold.open = true;
  for (const group of groups.values()) { for (const graph of group.graphs) graph.layout(1000); group.draw(); }
});
addEventListener("afterprint", () => {
  for (const fold of folded) fold.open = false;
  folded = [];
  delete document.documentElement.dataset.print;
  for (const group of groups.values()) group.resize();
});
