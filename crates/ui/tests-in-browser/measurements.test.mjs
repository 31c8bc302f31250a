// Advice, a test of a path, load on servers: as people use them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { go, isAccessible, isWell, launch, open, serve } from "./place.mjs";

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.forget();
});

const isDone = (page) => page.locator(".job").getByText("Done.").waitFor({ timeout: 60_000 });

test("advice for a path shows settings and what they gain", async () => {
  const { page, context, faults, hosts } = await open(browser, server);
  await go(page, "/advice");
  await page.waitForSelector(".outlook svg");
  await isWell(page, "the form of advice");
  await page.getByText("Change the path").click();
  await page.getByRole("slider", { name: "Random loss" }).fill("300");
  await page.getByRole("spinbutton", { name: "Trials" }).fill("3");
  await page.getByRole("button", { name: "Advise" }).click();
  await isDone(page);
  assert.match(await page.locator(".job .command code").textContent(), /^tcplab advise --path=lte '--set=loss=.* %'/);
  assert.ok(await page.locator(".advice > li").count() > 1);
  assert.match(await page.locator(".advice").textContent(), /setsockopt|sysctl/);
  const gain = page.locator(".gain").first();
  assert.ok(await gain.locator("svg rect.after").count() > 0);
  assert.match(await gain.getByRole("row").nth(1).textContent(), /× .* to × /);
  await isWell(page, "advice");
  await gain.getByRole("link", { name: "The run" }).click();
  await page.waitForSelector("iframe.report");
  // By its numbers, without trials; then found again.
  await go(page, "/advice");
  await page.getByRole("combobox", { name: "What advice is for" }).selectOption("figures");
  await page.getByRole("spinbutton", { name: "Round trip, ms" }).fill("80");
  await page.getByRole("spinbutton", { name: "Trials" }).fill("0");
  await page.getByRole("button", { name: "Advise" }).click();
  await isDone(page);
  await page.getByText("Nothing was tried").waitFor();
  await go(page, "/advice");
  assert.equal(await page.locator(".earlier li").count(), 2);
  for (const kind of ["capture", "run"]) {
    await page.getByRole("combobox", { name: "What advice is for" }).selectOption(kind);
    await isAccessible(page, `advice for a ${kind}`);
  }
  assert.deepEqual(faults, []);
  assert.deepEqual([...hosts], [server.at]);
  await context.close();
});

test("a path is tested by RFC 6349, and what is wrong is said", async () => {
  const { page, context, faults, hosts } = await open(browser, server);
  await go(page, "/rfc6349");
  await page.waitForSelector(".outlook svg");
  await isWell(page, "the form of a test");
  await page.getByRole("spinbutton", { name: "Duration, s" }).fill("3");
  await page.getByRole("button", { name: "Test" }).click();
  await isDone(page);
  assert.equal(await page.locator(".meanings").first().locator("dt").count(), 5);
  assert.ok(await page.locator(".figure circle.dot").count() >= 4);
  assert.ok(await page.locator(".figure circle.ring").count() >= 2);
  assert.match(await page.textContent("main"), /bandwidth-delay product carries/);
  // The ideal goodput of a row is that of the windows that were offered, in the figure as in the table.
  assert.equal(await page.locator(".gains th").nth(2).textContent(), "offered each");
  const rows = await page.locator(".gains tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const label = await page.locator(".figure").getAttribute("aria-label");
  for (const [connections, , offered] of rows) assert.ok(label.includes(`${connections} × ${offered} `), `${offered}: ${label}`);
  await isWell(page, "a test");
  // The address of a job leads to its page.
  const id = await page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("id"));
  await page.evaluate((to) => { location.hash = `/job?id=${to}`; }, id);
  await page.waitForSelector('main[data-page="/rfc6349"]');
  assert.deepEqual(faults, []);
  // Nobody listens at the target; a target that is none is refused.
  await go(page, "/rfc6349");
  await page.getByRole("combobox", { name: "What is tested" }).selectOption("target");
  await isAccessible(page, "a target");
  const target = page.getByRole("textbox", { name: "Address and port" });
  await target.fill("<b>x</b>");
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("a target is ADDRESS:PORT").waitFor();
  await target.fill("127.0.0.1:1");
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("cannot connect to 127.0.0.1:1").waitFor({ timeout: 30_000 });
  await isAccessible(page, "a test that failed");
  assert.deepEqual([...hosts], [server.at]);
  await context.close();
});

test("designs of servers are loaded, seen while they are, and stopped", async () => {
  const { page, context, faults, hosts } = await open(browser, server);
  await go(page, "/load");
  await isWell(page, "the form of a load");
  await page.getByRole("combobox", { name: "Service" }).selectOption("http");
  await page.getByRole("spinbutton", { name: "Duration, s" }).fill("2");
  await page.getByRole("button", { name: "Start" }).click();
  // While the first is loaded its histogram fills.
  const bars = page.locator(".figure rect.after");
  await bars.first().waitFor({ timeout: 30_000 });
  const answers = () => page.evaluate(() => Number(document.querySelector(".gains tbody td:nth-of-type(2)").textContent.replaceAll(",", "")));
  const first = await answers();
  await page.waitForFunction((before) => Number(document.querySelector(".gains tbody td:nth-of-type(2)").textContent.replaceAll(",", "")) > before, first);
  await isDone(page);
  const rows = page.locator(".gains tbody tr");
  assert.deepEqual(await rows.locator("th").allTextContents(), ["fork", "epoll"]);
  assert.match(await rows.first().textContent(), /none/);
  // Then figure and table have the same numbers, and the curve goes to the end.
  const figures = await page.locator(".figure svg").first().textContent();
  for (const at of [0, 1]) {
    const [, answers, p50, , p99] = await rows.nth(at).locator("td").allTextContents();
    assert.ok(figures.includes(`p50 ${p50}, p99 ${p99}, ${answers} answers`), `${p50} ${p99} ${answers}: ${figures}`);
    assert.equal((await page.locator(".figure path.line").nth(at).getAttribute("d")).split("L").length, 4);
  }
  await isWell(page, "a load");
  await go(page, "/load");
  await page.getByRole("spinbutton", { name: "Duration, s" }).fill("60");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Ended before it was finished.").first().waitFor({ timeout: 30_000 });
  await go(page, "/load");
  await page.getByRole("combobox", { name: "What is loaded" }).selectOption("url");
  await isAccessible(page, "an address");
  assert.deepEqual(faults, []);
  await page.getByRole("textbox", { name: "Address" }).fill("http://me:secret@127.0.0.1/");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("a name and a password").waitFor();
  assert.deepEqual([...hosts], [server.at]);
  await context.close();
});

test("on a narrow screen every page is in the list of pages", async () => {
  const { page, context, faults } = await open(browser, server, { viewport: { width: 400, height: 800 } });
  await page.getByRole("button", { name: "Pages" }).click();
  await page.getByRole("link", { name: "RFC 6349", exact: true }).waitFor();
  await isAccessible(page, "the list of pages");
  await page.getByRole("link", { name: "RFC 6349", exact: true }).click();
  await page.waitForSelector('main[data-page="/rfc6349"]');
  assert.ok(!(await page.getByRole("link", { name: "Servers" }).isVisible()), "the list stays open");
  assert.deepEqual(faults, []);
  await context.close();
});
