// @ts-check
// The programs of the sockets course: their source, what they show, how to run them.

import { address, get } from "./api.js";
import { command, el, show } from "./dom.js";
import { begin } from "./learner.js";

/** @param {any} it */
export const programCard = (it) => el("li", { class: "run-card" },
  el("h3", {}, el("a", { href: `#${address("/learn", { program: it.name })}` }, it.example ? `${it.example}. ${it.name}` : it.name)),
  it.title && el("p", {}, it.title), el("p", { class: "meta" }, it.shows));

/** @param {HTMLElement} place @param {string} name */
export const program = async (place, name) => {
  const [{ programs }, about] = await Promise.all([get("/api/programs"), get("/api/about")]);
  const it = programs.find((/** @type {any} */ one) => one.name === name);
  if (!it) throw new Error(`There is no program ${name}.`);
  const sources = await get("/api/program", { name });
  const source = el("code", {});
  const languages = [["rust", "Rust", `examples/src/bin/${name}.rs`], ["c", "C", `examples/c/${name}.c`]];
  const file = el("p", { class: "meta" });
  const choose = (/** @type {string} */ chosen) => {
    source.textContent = sources[chosen];
    for (const [at, [language, , path]] of languages.entries()) {
      buttons[at].setAttribute("aria-pressed", String(language === chosen));
      if (language === chosen) file.textContent = path;
    }
  };
  const buttons = languages.map(([language, text]) => el("button", { type: "button", onclick: () => choose(language) }, text));
  const alert = el("p", { class: "warnings", role: "alert" });
  const isPossible = it.world !== "kernel" || about.has_kernel;
  show(place,
    el("header", {}, el("p", { class: "meta" }, el("a", { href: "#/learn" }, "Learn")), el("h1", {}, it.name), el("p", { class: "lead" }, it.title ?? it.shows)),
    el("dl", { class: "facts-of-option" },
      it.example && el("dt", {}, "Example"), it.example && el("dd", {}, `${it.example} of the course's nine`),
      el("dt", {}, "Shows"), el("dd", {}, it.shows), el("dt", {}, "The library hides"), el("dd", {}, it.hides), el("dt", {}, "Reference"), el("dd", {}, it.reference)),
    it.scenario && el("section", {}, el("h2", {}, "Its experiment"),
      el("div", { class: "begin" },
        el("button", { type: "button", class: "primary", disabled: !isPossible, onclick: () => begin(it.scenario, it.world).catch((error) => { alert.textContent = error.message; }) },
          it.world === "kernel" ? "Run on this machine's TCP" : "Run the experiment"),
        el("a", { href: `#${address("/new", { scenario: it.scenario })}` }, "Read or change it")),
      !isPossible && el("p", { class: "meta" }, `This machine's TCP cannot be used: ${about.why_no_kernel}`),
      alert, command(`tcplab run ${it.scenario} --world ${it.world}`)),
    el("section", {}, el("h2", {}, "Run the program"), el("p", { class: "meta" }, "Built from tcplab's source: cargo build -p tcplab-examples, and make -C examples/c."), ...it.commands.map(command)),
    el("section", {}, el("h2", {}, "Source"), el("div", { class: "actions", role: "group", "aria-label": "Language" }, ...buttons), file,
      el("pre", { class: "text source", tabindex: 0, role: "region", "aria-label": "Source" }, source)));
  choose("rust");
};
