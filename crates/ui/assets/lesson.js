// @ts-check
// A lesson: a question, a prediction, an experiment, and its answer beside the document's.

import { address, get, post } from "./api.js";
import { command, el, rounded, say, show } from "./dom.js";
import { done, keep, runner } from "./learner.js";

/** @param {HTMLElement} place @param {string} id */
export const lesson = async (place, id) => {
  const { lessons } = await get("/api/lessons");
  const it = lessons.find((/** @type {any} */ one) => one.id === id);
  if (!it) throw new Error(`There is no lesson ${id}.`);
  const key = `lesson ${id}`;
  const prediction = el("section", {}), experiment = el("section", {}), answer = el("div", {});
  show(place,
    el("header", {}, el("p", { class: "meta" }, el("a", { href: "#/learn" }, "Learn")), el("h1", {}, it.title),
      el("p", { class: "lead" }, it.question)),
    el("section", {}, el("h2", {}, "What the document found"), el("p", {}, it.finds),
      el("p", { class: "meta" }, `From: ${it.document_title}.`)),
    prediction, experiment, answer);

  const works = runner(it.scenario, (job) => keep(key, { ...done(key), job }));
  let predicted = done(key).predicted ?? -1;
  const start = el("button", { type: "button", class: "primary", disabled: true, onclick: () => work(works.start) }, "Run the experiment");
  const cost = el("p", { class: "meta estimate" });
  const alert = el("p", { class: "warnings", role: "alert" });
  const progress = el("div", {});

  /** @param {any} [found] what was measured */
  const choices = (found) => show(prediction,
    el("fieldset", { class: "predict", disabled: Boolean(found) },
      el("legend", {}, el("h2", {}, found ? "Your prediction, and what was measured" : "Predict first")),
      el("p", {}, it.prediction.asks),
      ...it.prediction.choices.map((/** @type {any} */ choice, /** @type {number} */ at) => el("label", { class: found?.right === at ? "choice right" : found && predicted === at ? "choice wrong" : "choice" },
        el("input", { type: "radio", name: "prediction", value: at, checked: predicted === at, onchange: () => {
          predicted = at;
          keep(key, { predicted });
          start.disabled = false;
        } }), el("span", {}, choice.says,
          found && predicted === at && el("b", {}, found.right === at ? " – your prediction, and so it is" : " – your prediction"),
          found && found.right === at && predicted !== at && el("b", {}, " – measured"))))),
    found && el("p", { class: "measured" }, `${found.metric}: `, el("strong", {}, `${rounded(found.value)} ${found.unit}`),
      it.prediction.over ? ` (${it.prediction.case} compared with ${it.prediction.over})` : ` (${it.prediction.case})`));

  const offer = () => {
    start.disabled = predicted < 0;
    show(experiment, el("h2", {}, "Then run it"), el("div", { class: "begin" }, start,
      el("a", { href: `#${address("/new", { scenario: it.scenario })}` }, "Read or change the experiment")), cost, progress, alert);
    estimate().catch(() => {});
  };
  const estimate = async () => {
    const { toml } = await get("/api/scenario", { name: it.scenario });
    const { in_words } = await post("/api/estimate", { toml, name: id, world: "sim" });
    cost.textContent = `In virtual time: ${in_words}`;
  };

  /** @param {string} run */
  const tell = async (run) => {
    const found = await get("/api/lesson/answer", { lesson: id, run });
    keep(key, { predicted, run, isDone: true, isRight: found.right === predicted });
    choices(found);
    show(experiment, el("h2", {}, "Why"), el("p", {}, it.explains));
    show(answer, beside(it, found), el("section", {}, el("h2", {}, "Look closer"),
      el("ul", {}, el("li", {}, el("a", { href: `#${address("/run", { run })}` }, "The report of this run")),
        el("li", {}, el("a", { href: `#${address("/live", { run, case: it.watch, trial: 1 })}` }, `Watch a trial: ${it.watch}`))),
      command(`tcplab run ${it.scenario} --world sim`),
      el("p", {}, el("button", { type: "button", onclick: again }, "Do this lesson again"))));
    say("The answer is there.");
  };
  const again = () => {
    keep(key, {});
    predicted = -1;
    show(answer);
    choices();
    offer();
  };
  /** @param {() => Promise<string | null>} way */
  const work = async (way) => {
    start.disabled = true;
    alert.textContent = "";
    for (const input of prediction.querySelectorAll("input")) input.disabled = true;
    show(progress, works.element);
    try {
      const run = await way();
      if (run) await tell(run);
      else throw new Error("");
    } catch (error) {
      alert.textContent = /** @type {Error} */ (error).message;
      show(progress);
      keep(key, { predicted });
      choices();
      start.disabled = predicted < 0;
    }
  };

  const { run, job } = done(key);
  choices();
  // A run that was deleted is no answer any more.
  if (run) await tell(run).catch(again);
  else offer();
  if (job && !run) work(() => works.resume(job));
  return () => works.leave();
};

/** What the document says, beside what came out here. @param {any} it @param {any} found */
const beside = (it, found) => el("section", {}, el("h2", {}, "The document beside this run"),
  el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The document beside this run" }, el("table", { class: "beside" },
    el("thead", {}, el("tr", {}, ...["the document", "its figure", "measured here", "as in the document?"].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...it.rows.map((/** @type {any} */ row) => el("tr", {},
      el("th", { scope: "row" }, row.says, el("span", { class: "meta" }, ` ${row.part}`)),
      el("td", {}, row.figure ?? ""),
      el("td", {}, ...row.claims.map((/** @type {string} */ claim) => claimed(found.claims.find((/** @type {any} */ one) => one.claim === claim)))),
      el("td", {}, row.verdict === "same" ? "yes" : "no", row.why && el("span", { class: "meta" }, `: ${row.why}`))))))));

/** @param {any} it */
const claimed = (it) => it ? el("p", {}, el("strong", {}, it.found), el("span", { class: "meta" }, ` ${it.claim}: ${it.outcome}`)) : el("p", { class: "meta" }, "not in this run");
