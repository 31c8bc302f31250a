// What forms say is what runs.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { fits, go, launch, open, serve } from "./place.mjs";

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.forget();
});

const isReady = (page) => page.waitForSelector(".begin .primary:not([disabled])");

test("every comparison, whatever the applications do, is an experiment without mistakes", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const compared = page.getByRole("combobox", { name: "What is compared" });
  const works = page.getByRole("combobox", { name: "What the applications do" });
  const values = (select) => select.locator("option").evaluateAll((options) => options.map((it) => it.value));
  const always = ["congestion", "queue", "buffer", "loss", "stack", "rate", "delay", "send-buffer", "nodelay"];
  const ends = { download: ["server", "client"], upload: ["client", "server"], requests: ["server", "client"], keystrokes: ["client", "server"] };
  assert.deepEqual(await values(works), Object.keys(ends));
  for (const [work, [sender, receiver]] of Object.entries(ends)) {
    await works.selectOption(work);
    const factors = await values(compared);
    assert.deepEqual(factors, [...always, ...work === "keystrokes" ? [] : ["amount"], "flows", "lasting"]);
    for (const factor of factors) {
      await compared.selectOption(factor);
      const toml = await page.getByRole("textbox", { name: "The scenario file" }).inputValue();
      assert.match(toml, new RegExp(`^${work} = `, "m"));
      const checked = await page.evaluate(async (text) => {
        const { post } = await import("/api.js");
        return post("/api/check", { toml: text, name: "x" });
      }, toml);
      assert.deepEqual(checked.mistakes, [], `${factor}, ${work}: ${toml}`);
      const key = { congestion: `${sender}.socket.congestion`, buffer: `${receiver}.socket.rcvbuf`, "send-buffer": `${sender}.socket.sndbuf`, stack: `${sender}.stack`, nodelay: `${sender}.socket.nodelay` }[factor];
      if (key) assert.ok(toml.includes(`\n"${key}" = [`), `${factor}, ${work}: ${toml}`);
    }
  }
  assert.deepEqual(faults, []);
  await context.close();
});

test("the editor offers keys that are not there, values and tables", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const file = page.getByRole("textbox", { name: "The scenario file" });
  const offers = page.getByRole("group", { name: "What fits here" }).getByRole("button");
  /** What is offered where the text has a `|`. */
  const at = async (text) => {
    const [before, behind] = text.split("|");
    await file.fill(before + behind);
    await file.evaluate((area, place) => {
      area.setSelectionRange(place, place);
      area.dispatchEvent(new Event("click"));
    }, before.length);
    await page.waitForTimeout(50);
    return offers.allTextContents();
  };
  for (const [text, wanted] of [
    ['[client.socket]\ncongestion = "|"', ["reno", "cubic", "bbr", "vegas", "westwood"]],
    ['[path]\npreset = "dsl-2|"', ["dsl-25"]],
    ['[matrix]\n"server.socket.congestion" = ["reno", "cub|', ["cubic"]],
    ['client = { stack = "model:win|', ["model:windows-7", "model:windows-7-compound"]],
    ['[[compare]]\nmetrics = ["goodput", "transfer_time_|', ["transfer_time_ratio"]],
    ["[client.socket]\nnodelay = |", ["true", "false"]],
    ["[path]\ninterruption = { ev|", ["every"]],
    ['[path]\ninterruption = { every = "5 s", |, offset = "1 s", lasting = "1 s" }', ["at", "direction", "up"]],
    ["[path]\ndel|\n", ["delay"]],
    ['[path]\ndel|\nrate = "1 Mbit/s"\ndelay = "1 ms"\n', []],
    ["[wor|", ["workload"]],
    ["[wor|\n[workload]", []],
    ["[client.so|", ["client.socket"]],
    ["[[|", ["compare", "expect", "plot"]],
    ['[path]\ndelay = "1 ms" |', []],
    ["[path]\n# del|", []],
  ]) assert.deepEqual(await at(text), wanted, text);
  // What is pressed is written.
  for (const [text, name, written] of [
    ["[client]\nso|", "socket", "[client]\nsocket = { "],
    ["[[comp|", "compare", "[[compare]]"],
    ["[|", "[compare]", "[[compare]]"],
    ['[path]\npreset = "lt|"', "lte", '[path]\npreset = "lte"'],
    ['[path]\npreset = "lt|', "lte", '[path]\npreset = "lte"'],
    ["[path]\npreset = |", "lte", '[path]\npreset = "lte"'],
  ]) {
    await at(text);
    await offers.getByText(name, { exact: true }).click();
    assert.equal(await file.inputValue(), written);
  }
  assert.deepEqual(faults, []);
  await context.close();
});

test("nothing is started while a field has a value that is not taken", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const start = page.getByRole("button", { name: "Start" });
  for (const [role, name, wrong, right] of [
    ["spinbutton", "Trials", "2000", "20"],
    ["spinbutton", "Trials", "0", "20"],
    ["spinbutton", "Amount", "20000", "20"],
    ["spinbutton", "Amount", "", "20"],
    ["textbox", "Name of the experiment", "my test #1", "my-test-1"],
    ["textbox", "Name of the experiment", "", "my-test-1"],
  ]) {
    const field = page.getByRole(role, { name });
    await field.fill(wrong);
    assert.ok(await start.isDisabled(), `${name}: ${wrong}`);
    assert.match(await page.locator(".estimate").textContent(), new RegExp(`^${name}: .`));
    await field.fill(right);
    await isReady(page);
  }
  assert.match(await page.getByRole("textbox", { name: "The scenario file" }).inputValue(), /download = "20 MB"/);
  // One trial cannot be compared with one: the server refuses it.
  await go(page, "/advice");
  const trials = page.getByRole("spinbutton", { name: "Trials" });
  for (const [value, isValid] of [["1", false], ["0", true], ["2", true], ["1000", false], ["999", true]]) {
    await trials.fill(value);
    assert.equal(await trials.evaluate((field) => field.checkValidity()), isValid, value);
  }
  assert.deepEqual(faults, []);
  await context.close();
});

test("a form keeps the focus, what is open, and where sliders are", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const focus = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.parentElement?.textContent);
  await page.getByLabel("with interruptions").focus();
  await page.keyboard.press("Space");
  assert.equal(await focus(), "with interruptions");
  assert.equal(await page.getByRole("spinbutton", { name: "Length of an interruption" }).count(), 0);
  await page.keyboard.press("Space");
  const length = page.getByRole("spinbutton", { name: "Length of an interruption" });
  await length.focus();
  await page.keyboard.press("ArrowUp");
  assert.equal(await focus(), "Length of an interruption");
  await page.getByText("Change the path").click();
  const slider = page.getByRole("slider", { name: "Rate" });
  await slider.fill("500");
  const set = await slider.evaluate((it) => it.nextElementSibling.textContent);
  await page.getByRole("combobox", { name: "What is compared" }).focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await focus(), "What is compared");
  assert.match(await page.getByRole("textbox", { name: "The scenario file" }).inputValue(), /"path\.queue" = \[/);
  assert.ok(await slider.isVisible(), "what was open is closed");
  assert.equal(await slider.inputValue(), "500");
  assert.equal(await slider.evaluate((it) => it.nextElementSibling.textContent), set);
  // The forms of measurements, too.
  await go(page, "/load");
  await page.getByRole("combobox", { name: "Pace" }).focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await focus(), "Pace");
  await go(page, "/advice");
  await page.getByRole("group", { name: "Path", exact: true }).getByRole("radio", { checked: true }).focus();
  await page.keyboard.press("ArrowDown");
  assert.ok(await page.evaluate(() => document.activeElement.matches(".path-card input:checked")));
  assert.deepEqual(faults, []);
  await context.close();
});

test("the form runs as many trials as it says, and its command where it says", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const file = page.getByRole("textbox", { name: "The scenario file" });
  for (const [trials, each, phases, said] of [[20, 1, 20, null], [21, 2, 11, "22 in all"], [25, 2, 13, "26 in all"], [30, 2, 15, null], [400, 20, 20, null]]) {
    await page.getByRole("spinbutton", { name: "Trials" }).fill(String(trials));
    const toml = await file.inputValue();
    assert.match(toml, new RegExp(`^trials = ${each}$`, "m"));
    assert.equal(/offset" = \[(.*)\]/.exec(toml)[1].split(",").length, phases);
    const words = await page.locator(".composer-form").textContent();
    if (each > 1) assert.ok(words.includes(`${each} at each of ${phases} moments`), words);
    assert.equal(words.includes("in all"), said !== null, words);
    if (said) assert.ok(words.includes(said), words);
  }
  // Time and room.
  await page.locator(".estimate").filter({ hasText: /trials: about .*, about [\d.]+ [kMGT]?B/ }).waitFor();
  const command = page.locator(".command code");
  assert.match(await command.textContent(), /--world sim$/);
  await page.getByRole("combobox", { name: "Where it runs" }).selectOption("auto");
  assert.match(await command.textContent(), /--world auto$/);
  assert.deepEqual(faults, []);
  await context.close();
});

test("what was written is there again until it is started", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const file = page.getByRole("textbox", { name: "The scenario file" });
  const mine = (await file.inputValue()).replace("10 MB", "1 MB").replace("trials = 1", "trials = 1 # mine");
  await file.fill(mine);
  await isReady(page);
  await go(page, "/runs");
  await page.goBack();
  await page.waitForSelector('main[data-page="/new"]');
  assert.equal(await file.inputValue(), mine);
  await page.reload();
  await isReady(page);
  assert.equal(await file.inputValue(), mine);
  // What was written by hand is not given up without a question.
  page.once("dialog", (dialog) => dialog.dismiss());
  await page.getByRole("button", { name: "Back to the form" }).click();
  assert.equal(await file.inputValue(), mine);
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector("iframe.report", { timeout: 60_000 });
  await go(page, "/new");
  await isReady(page);
  assert.match(await file.inputValue(), /10 MB/);
  // Choices of the form, too.
  await page.getByRole("radio", { name: "dsl-25", exact: true }).check();
  await page.getByRole("spinbutton", { name: "Trials" }).fill("7");
  await page.reload();
  await isReady(page);
  assert.match(await file.inputValue(), /preset = "dsl-25"/);
  assert.equal(await page.getByRole("spinbutton", { name: "Trials" }).inputValue(), "7");
  assert.deepEqual(faults, []);
  await context.close();
});

test("what cannot run here says what helps, and is not started", async () => {
  const { page, context } = await open(browser, server);
  const { scenarios } = await page.evaluate(async () => (await fetch("/api/scenarios")).json());
  const { name } = scenarios.find((it) => it.name.startsWith("kernels/"));
  await go(page, `/new?scenario=${encodeURIComponent(name)}`);
  await page.locator(".estimate").filter({ hasText: "tcplab kernel build" }).waitFor();
  assert.ok(await page.getByRole("button", { name: "Start" }).isDisabled());
  await page.waitForSelector(".outlook svg");
  // One of stacks that are not in virtual time opens where they are.
  await go(page, `/new?scenario=${encodeURIComponent("sockets-course/baselines")}`);
  await page.waitForFunction(() => document.querySelector(".estimate").textContent !== "" && document.querySelector("select[aria-label='Where it runs']").value === "auto");
  assert.match(await page.locator(".command code").textContent(), /--world auto$/);
  await context.close();
});

test("all mistakes are counted, and each leads to its line", async () => {
  const { page, context } = await open(browser, server);
  await go(page, "/");
  await isReady(page);
  await page.getByText("The file", { exact: true }).click();
  const file = page.getByRole("textbox", { name: "The scenario file" });
  const claims = Array.from({ length: 30 }, (_, at) => `[[expect]]\nclaim = "c"\nmetric = "none${at}"\nat_least = 1\n`).join("\n");
  await file.fill(`${await file.inputValue()}\n${claims}`);
  await page.locator(".mistakes li").nth(20).waitFor();
  assert.equal(await page.locator(".mistakes li").count(), 21);
  assert.equal(await page.locator(".mistakes li").last().textContent(), "and 10 more");
  await page.getByText("The file", { exact: true }).click();
  assert.ok(!(await file.isVisible()));
  await page.locator(".mistakes button").first().click();
  assert.ok(await file.isVisible());
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
  await context.close();
});

test("a command is copied where the browser has no clipboard", async () => {
  const { page, context, faults } = await open(browser, server);
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined });
    document.addEventListener("copy", () => { window.copied = String(getSelection()); });
  });
  await go(page, "/new");
  await isReady(page);
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.match(await page.evaluate(() => window.copied), /^tcplab run /);
  assert.deepEqual(faults, []);
  await context.close();
});

test("long words and foreign names fit", async () => {
  const { page, context, faults } = await open(browser, server, { viewport: { width: 400, height: 800 } });
  await go(page, "/new");
  await isReady(page);
  const file = page.getByRole("textbox", { name: "The scenario file" });
  await file.fill(`title = "${"Donaudampfschiff".repeat(5)}"
path     = { rate = "10 Mbit/s", delay = "10 ms" }
workload = { upload = "100 kB" }
[matrix]
sprache = { "日本語" = { "path.delay" = "10 ms" }, "中文" = { "path.delay" = "20 ms" } }
`);
  await page.waitForTimeout(600);
  if (await page.locator(".mistakes li").count()) throw new Error(await page.locator(".mistakes").textContent());
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector("iframe.report", { timeout: 60_000 });
  await fits(page, "a long title");
  const report = page.frameLocator("iframe.report");
  await report.locator("h1").waitFor();
  assert.ok(await report.locator("html").evaluate((it) => it.scrollWidth - it.clientWidth) <= 1, "the report is too wide");
  assert.match(await report.locator("main").textContent(), /日本語/);
  assert.deepEqual(await page.locator(".watch th").allTextContents(), ["日本語", "中文"]);
  assert.deepEqual(faults, []);
  await context.close();
});
