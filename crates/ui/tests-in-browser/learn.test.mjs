// What one learns from, as a student uses it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { fits, go, isAccessible, isLegible, launch, open, serve } from "./place.mjs";

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.forget();
});

/** The states of both ends, as the page says them. */
const states = (page) => page.$$eval(".states-now dd strong", (all) => all.map((it) => it.textContent));

/** The states that the diagram marks. */
const marked = (page) => page.evaluate(() => Object.fromEntries(["client", "server"].map((end) =>
  [end, document.querySelector(`.state-diagram .now.${end}`)?.dataset.state ?? null])));

test("a lesson: from the prediction to the answer", async () => {
  const { page, context, faults, hosts } = await open(browser, server);
  await go(page, "/learn");
  assert.equal(await page.locator(".run-cards").first().locator(".run-card").count(), 5);
  await page.getByRole("link", { name: "Why is one kilobyte at a time so slow?" }).click();
  await page.waitForSelector(".estimate:not(:empty)");
  const run = page.getByRole("button", { name: "Run the experiment" });
  assert.ok(await run.isDisabled(), "one can start without a prediction");
  assert.equal(await page.locator(".measured").count(), 0);
  await isAccessible(page, "a lesson before its run");
  await page.getByRole("radio", { name: "About half of that with 2 KB" }).check();
  await run.click();
  await page.waitForSelector(".measured", { timeout: 60_000 });
  assert.match(await page.textContent(".measured"), /0\.04\d* Mbit\/s/);
  assert.match(await page.textContent(".choice.right"), /Less than 0\.1 Mbit\/s – measured/);
  assert.match(await page.textContent(".choice.wrong"), /your prediction/);
  const row = page.locator(".beside tbody tr").first();
  assert.match(await row.textContent(), /1 KB.*0\.045.*LAN_1KiB: 0\.045 Mbit\/s/);
  await isAccessible(page, "a lesson that is answered");
  // It is kept, also over a new start of the page.
  await page.reload();
  await page.waitForSelector(".measured");
  await go(page, "/learn");
  assert.match(await page.locator(".run-card", { hasText: "one kilobyte" }).first().textContent(), /✓ done/);
  // The trial that is worth watching.
  await page.getByRole("link", { name: "Why is one kilobyte at a time so slow?" }).click();
  await page.getByRole("link", { name: "Watch a trial" }).click();
  await page.waitForSelector(".state-diagram .now");
  await page.goBack();
  await page.getByRole("button", { name: "Do this lesson again" }).click();
  assert.ok(await page.getByRole("button", { name: "Run the experiment" }).isDisabled());
  assert.equal(await page.locator("input[type=radio]:checked").count(), 0);
  assert.deepEqual(faults, []);
  assert.deepEqual([...hosts], [server.at]);
  await context.close();
});

test("the state diagram follows the packets of a connection", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/learn");
  await page.getByRole("link", { name: "Half close" }).click();
  await page.waitForSelector(".state-diagram .now", { timeout: 30_000 });
  await isAccessible(page, "the state diagram");
  const next = page.getByRole("button", { name: "Next transition" });
  const walk = [await states(page)];
  while (await next.isEnabled()) {
    await next.click();
    const said = await states(page);
    assert.deepEqual(await marked(page), { client: said[0], server: said[1] });
    walk.push(said);
  }
  const of = (end) => walk.map((it) => it[end]).filter((it, at, all) => it !== all[at - 1]).join(" ");
  assert.match(of(0), /SYN-SENT ESTABLISHED FIN-WAIT-1 FIN-WAIT-2 TIME-WAIT$/);
  assert.match(of(1), /LISTEN SYN-RECEIVED ESTABLISHED CLOSE-WAIT LAST-ACK CLOSED$/);
  assert.match(await page.textContent(".states-cause"), /server: LAST-ACK to CLOSED, received ACK of its FIN \(packet \d+ \[\.\] received\)/);
  // What was not walked yet is not shown.
  await page.getByRole("slider", { name: "Time" }).fill("0");
  await page.waitForFunction(() => document.querySelectorAll(".state-diagram .walked[data-step]:not(.to-come)").length <= 2);
  // Played, it moves by itself.
  await page.getByRole("combobox", { name: "How long the play takes" }).selectOption("10");
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForFunction(() => document.querySelector(".states-now dd strong")?.textContent === "FIN-WAIT-1", undefined, { timeout: 15_000 });
  await page.getByRole("button", { name: "Pause" }).click();
  // Another order uses the same run.
  await page.getByRole("link", { name: "Reset" }).click();
  await page.waitForFunction(() => /Reset/.test(document.querySelector("h2")?.textContent ?? "") && document.querySelector(".state-diagram .now"));
  while (await next.isEnabled()) await next.click();
  assert.deepEqual(await states(page), ["CLOSED", "CLOSED"]);
  assert.deepEqual(faults, []);
  await context.close();
});

test("an experiment that is left goes on, and is waited for", async (t) => {
  const own = await serve();
  t.after(() => own.forget());
  const { page, context, faults } = await open(browser, own);
  const jobs = () => page.evaluate(async () => (await (await fetch("/api/jobs")).json()).jobs);
  // Another experiment runs: the walk begins after it.
  await go(page, "/new");
  await page.waitForSelector(".begin .primary:not([disabled])");
  await page.getByRole("spinbutton", { name: "Trials" }).fill("400");
  await page.waitForFunction(() => document.querySelector("textarea").value.includes("trials = 20\n"));
  await page.waitForSelector(".begin .primary:not([disabled])");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText(/^Trial \d+ of 1200/).waitFor({ timeout: 30_000 });
  const [{ id }] = await jobs();
  await go(page, "/learn?states=reset");
  await page.getByText("Waits for another experiment").waitFor();
  await page.evaluate(async (job) => {
    const { post } = await import("/api.js");
    await post(`/api/jobs/${job}/stop`, {});
  }, id);
  await page.waitForFunction(async () => (await (await fetch("/api/jobs")).json()).jobs.length === 2, null, { timeout: 30_000 });
  // Left while it runs, another order and this one again have the same run.
  await go(page, "/learn?states=half-close");
  await go(page, "/learn?states=reset");
  await page.waitForSelector(".state-diagram .now", { timeout: 30_000 });
  await go(page, "/learn?states=half-close");
  await page.waitForSelector(".state-diagram .now", { timeout: 30_000 });
  assert.equal((await jobs()).length, 2);
  assert.deepEqual(faults.filter((it) => !/ 409 /.test(it)), []);
  await context.close();
});

test("on the page of a trial the diagram follows the cursor", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/learn?states=client-closes-first");
  await page.waitForSelector(".state-diagram .now", { timeout: 30_000 });
  await page.getByRole("link", { name: "All of this trial" }).click();
  await page.waitForSelector(".live-chart canvas");
  await page.waitForFunction(() => document.querySelector(".states-now dd strong")?.textContent === "TIME-WAIT");
  await page.getByRole("slider", { name: "Time" }).fill("0.35");
  await page.waitForFunction(() => document.querySelector(".states-now dd strong")?.textContent === "ESTABLISHED");
  await page.getByRole("slider", { name: "Time" }).fill("0");
  await page.waitForFunction(() => document.querySelector(".states-now dd strong")?.textContent === "SYN-SENT");
  assert.deepEqual(await marked(page), { client: "SYN-SENT", server: "LISTEN" });
  // A transition in the list is a moment of the charts.
  const row = page.locator(".states-list tr", { hasText: "FIN-WAIT-2" });
  const at = Number.parseFloat(await row.getByRole("button").textContent());
  await row.getByRole("button").click();
  await page.waitForFunction((time) => Math.abs(Number.parseFloat(document.querySelector(".clock").textContent) - time) < 0.02, at);
  assert.equal((await marked(page)).client, "FIN-WAIT-2");
  await page.evaluate(() => scrollTo(0, 0));
  await isAccessible(page, "a trial with its state diagram");
  assert.deepEqual(faults, []);
  await context.close();
});

test("an option's experiment is started", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/learn");
  await page.getByRole("link", { name: "What each socket option does" }).click();
  await page.waitForSelector(".options tbody tr");
  const rows = page.locator(".options tbody tr");
  const all = await rows.count();
  await page.getByRole("checkbox", { name: "with an experiment" }).check();
  assert.ok(all > 100 && await rows.count() < 30, `${all} options`);
  await page.getByRole("searchbox", { name: "Filter options" }).fill("nagle");
  await page.getByRole("link", { name: "TCP_NODELAY", exact: true }).click();
  await page.waitForSelector(".facts-of-option");
  assert.match(await page.textContent(".facts-of-option"), /Default\s*off/);
  await isAccessible(page, "an option");
  await page.getByRole("button", { name: "Run the experiment" }).click();
  await page.waitForSelector("iframe.report", { timeout: 60_000 });
  assert.match(await page.textContent(".outcome"), /8 passed/);
  assert.deepEqual(faults, []);
  await context.close();
});

test("all experiments of a folder are run, one after the other", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/learn");
  const folder = page.locator("details", { has: page.getByRole("heading", { name: "A stack developer's report" }) });
  await folder.locator("summary").first().click();
  await folder.getByRole("button", { name: /^Run all \d+$/ }).click();
  await page.getByRole("heading", { name: /^Experiment 1 of \d+: haiku-tcp\// }).waitFor();
  // One that is done leads to its run.
  await page.locator(".earlier a").first().waitFor({ timeout: 60_000 });
  await isAccessible(page, "a series");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".lead").getByText("Ended before it was finished.").waitFor({ timeout: 30_000 });
  assert.match(await page.locator(".earlier a").first().getAttribute("href"), /#\/run\?run=haiku-tcp/);
  assert.deepEqual(faults, []);
  await context.close();
});

test("a program's source is shown in both languages", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/learn");
  await page.getByRole("link", { name: "3. echo" }).click();
  await page.waitForSelector(".source");
  assert.match(await page.textContent(".source"), /fn main\(\)/);
  await page.getByRole("button", { name: "C", exact: true }).click();
  assert.match(await page.textContent(".source"), /#include <.*int main\(/s);
  await isAccessible(page, "a program");
  // Where this machine has no TCP for experiments, a program that needs it says so.
  await go(page, "/learn?program=forking");
  await page.waitForFunction(() => document.querySelector("h1")?.textContent === "forking");
  const hasKernel = await page.evaluate(async () => (await (await fetch("/api/about")).json()).has_kernel);
  assert.equal(await page.getByRole("button", { name: "Run on this machine's TCP" }).isEnabled(), hasKernel);
  assert.deepEqual(faults, []);
  await context.close();
});

test("everything to learn from: accessible, light and dark, wide and narrow", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 400]) {
      const { page, context, faults } = await open(browser, server, { colorScheme, viewport: { width, height: 800 } });
      for (const [query, wanted] of [["lesson=interruption", ".predict"], ["states=reset", ".state-diagram .now"], ["option=", ".options tbody tr"], ["option=SO_RCVBUF", ".facts-of-option"], ["program=echo", ".source"]]) {
        await go(page, `/learn?${query}`);
        await page.waitForSelector(wanted, { timeout: 30_000 });
        await isAccessible(page, `${query}, ${colorScheme}, ${width}`);
        await fits(page, `${query}, ${width}`);
        if (query === "states=reset") await isLegible(page, ".states-beside svg");
      }
      for (const query of ["lesson=none", "option=none", "program=none"]) {
        await go(page, `/learn?${query}`);
        await page.waitForFunction(() => /There is no/.test(document.querySelector("[role=alert]")?.textContent ?? ""));
      }
      assert.deepEqual(faults, []);
      await context.close();
    }
  }
});
