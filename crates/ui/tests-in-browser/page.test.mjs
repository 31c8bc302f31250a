// The page as people use it.

import assert from "node:assert/strict";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { fits, go, isAccessible, isLegible, isWell, launch, open, serve } from "./place.mjs";

const PAGES = ["/", "/new", "/runs", "/capture", "/advice", "/rfc6349", "/load", "/learn"];

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.forget();
});

const isReady = (page) => page.waitForSelector(".begin .primary:not([disabled])");

/** From the first page: which of Reno, CUBIC, BBR suits an LTE path, with interruptions or without? */
const ask = async (page, interrupted = true) => {
  await go(page, "/");
  await isReady(page);
  if (!interrupted) {
    await page.getByLabel("with interruptions").uncheck();
    await page.waitForFunction(() => !document.querySelector("textarea").value.includes("interruption"));
    await isReady(page);
  }
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector("iframe.report", { timeout: 60_000 });
  return page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("run"));
};

test("a question on the first page is answered", async () => {
  const { page, context, faults, hosts } = await open(browser, server);
  assert.ok(!page.url().includes("token"), "the token is in the address");
  const run = await ask(page);
  assert.match(run, /^congestion-lte\//);
  assert.match(await page.textContent(".answer"), /goodput/);
  const report = page.frameLocator("iframe.report");
  await report.locator("h1").first().waitFor();
  assert.match(await report.locator(".answer").first().textContent(), /reno|cubic|bbr/);
  // The report's own script works in its sandbox, the page's theme is its theme, its files are saved.
  await report.locator("button.theme:not([hidden])").waitFor();
  for (const [button, theme] of [["Dark", "dark"], ["Light", "light"]]) {
    await page.locator(".bar").getByRole("button", { name: button }).click();
    await report.locator(`html[data-theme=${theme}]`).waitFor();
  }
  for (const name of ["metrics.csv", "scenario.toml", "client.pcapng"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), report.getByRole("link", { name, exact: true }).first().click()]);
    assert.equal(download.suggestedFilename(), name);
    assert.equal(await download.failure(), null);
  }
  await page.evaluate(() => scrollTo(0, 0));
  await isAccessible(page, "a run");
  // A trial is played, held, moved in, and seen packet by packet.
  await page.locator(".watch a").first().click();
  await page.waitForFunction(() => document.querySelectorAll(".live-chart canvas").length === 5);
  await page.waitForSelector(".rungs tbody tr");
  // Keys show what is drawn; each direction's drops have a name.
  assert.deepEqual(await page.locator(".live-chart .key:has(i.cross)").allTextContents(), ["dropped, client to server", "dropped, server to client"]);
  assert.equal(await page.locator(".live-chart .key i.dashed").count(), 1);
  // At the end all is acknowledged, and the states are those of the packets.
  await page.waitForFunction(() => [...document.querySelectorAll(".live-chart .key")].some((it) => it.textContent === "in flight0 B"));
  await page.waitForFunction(() => /CLOSED.*TIME-WAIT/.test(document.querySelector(".live-states").textContent));
  await page.locator(".live-events li").filter({ hasText: /server to client: \d+ fast retransmissions$/ }).first().waitFor();
  await isAccessible(page, "a trial");
  const shown = () => page.textContent(".clock");
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForFunction(() => Number.parseFloat(document.querySelector(".clock").textContent) < 5);
  const first = await shown();
  await page.waitForFunction((before) => document.querySelector(".clock").textContent !== before, first);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("slider", { name: "Time" }).fill("0.5");
  await page.waitForFunction(() => /SACK|ack/.test(document.querySelector(".rungs").textContent));
  // What is listed is of that moment.
  await page.waitForFunction(() => {
    const [now, end] = document.querySelector(".clock").textContent.match(/[\d.]+/g).map(Number);
    return Math.abs(now / end - 0.5) < 0.01;
  });
  const drop = page.locator(".live-events button").first();
  const at = Number(/(\d+\.\d+) s$/.exec(await drop.textContent())[1]);
  await drop.click();
  // The packets of that moment come a little later than its time; what was dropped behind the queue came to it before.
  await page.waitForFunction((time) => {
    const near = (element) => element && Math.abs(Number.parseFloat(element.textContent) - time) < 0.02;
    const held = document.querySelector(".rungs [aria-current] button");
    return near(document.querySelector(".clock")) && (near(held) || held?.closest("tr").matches(".lost"));
  }, at);
  // With keys: the chart is moved.
  await page.locator(".live-chart canvas").first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("+");
  // A packet below the charts leads to its moment, and a point of a chart to its packet.
  const packet = page.locator(".rungs button").nth(3);
  const moment = Number.parseFloat(await packet.textContent());
  await packet.click();
  await page.waitForFunction((time) => {
    const held = document.querySelector(".rungs [aria-current] button");
    return held && Math.abs(Number.parseFloat(held.textContent) - time) < 1e-6;
  }, moment);
  await page.getByRole("button", { name: "Whole" }).click();
  await page.locator(".live-chart canvas").first().click({ position: { x: 300, y: 60 } });
  await page.waitForFunction((time) => {
    const held = document.querySelector(".rungs [aria-current] button");
    return held && Math.abs(Number.parseFloat(held.textContent) - time) > 1e-3;
  }, moment);
  // One trial of each case, side by side.
  await go(page, `/run?run=${encodeURIComponent(run)}`);
  await page.getByRole("link", { name: "Trials side by side" }).click();
  const charts = page.locator(".multiples canvas");
  await charts.nth(2).waitFor();
  await page.getByRole("combobox", { name: "What is shown" }).selectOption("windows");
  await page.waitForFunction(() => [...document.querySelectorAll(".multiples output")].some((it) => /kB|MB/.test(it.textContent)));
  await isAccessible(page, "trials side by side");
  // No more than fit: another one takes the place of one.
  const many = await page.locator(".levels-choice input:checked").count();
  const choose = async (state, count) => {
    // By its label: which box is the first in this state changes with the click.
    await page.locator(`.levels-choice label:has(input${state})`).first().click();
    await page.waitForFunction((is) => document.querySelectorAll(".levels-choice input:checked").length === is, count);
  };
  await choose(":checked", many - 1);
  await choose(":not(:checked)", many);
  await charts.nth(3).waitFor();
  await fits(page, "trials side by side");
  // Two more, with several trials of each case, are compared; the first is deleted.
  await ask(page, false);
  await ask(page, false);
  await go(page, "/runs");
  await page.locator(".run-card input[type=checkbox]").nth(0).check();
  await page.locator(".run-card input[type=checkbox]").nth(1).check();
  // A comparison that takes long can be left.
  await page.route("**/api/compare", () => {});
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("Comparing").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Comparing").waitFor({ state: "detached" });
  await page.unroute("**/api/compare");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.frameLocator("iframe.report").locator("h1").first().waitFor({ timeout: 30_000 });
  await isAccessible(page, "runs");
  // Both are in one figure, under a name of one's own, and another one.
  await page.getByRole("button", { name: "Figures with all chosen" }).click();
  await page.locator(".several svg").waitFor();
  await page.locator(".labels input").first().fill("<mine>");
  await page.locator(".labels input").first().press("Enter");
  await page.locator(".several svg text").filter({ hasText: "<mine>" }).first().waitFor();
  await page.getByRole("combobox", { name: "Figure" }).selectOption("goodput/ecdf");
  await page.locator(".several svg.ecdf").waitFor();
  // Bars are as high as they are drawn, whatever else of the page is called a bar.
  await page.getByRole("combobox", { name: "Figure" }).selectOption("goodput/bars");
  const bar = page.locator(".several svg.mean-bars rect").first();
  await bar.waitFor();
  assert.equal(await bar.evaluate((it) => getComputedStyle(it).height), `${await bar.getAttribute("height")}px`);
  await page.getByRole("combobox", { name: "Figure" }).selectOption("goodput/ecdf");
  await page.locator(".several svg.ecdf").waitFor();
  // Relative to the first, a part of it, in a colour of one's own, under a title.
  await page.getByRole("combobox", { name: "Values" }).selectOption("times that of <mine>");
  await page.locator(".several svg text").filter({ hasText: "times that of <mine>" }).first().waitFor();
  await page.getByRole("combobox", { name: /^Colour of/ }).nth(1).fill("#cc3311");
  await page.keyboard.press("Enter");
  await page.locator('.several svg g.own[color="#cc3311"]').first().waitFor();
  const stroke = page.locator('.several svg g.own path.line').first();
  assert.equal(await stroke.evaluate((it) => getComputedStyle(it).stroke), "rgb(204, 51, 17)");
  await page.getByText("Axes and title").click();
  await page.getByRole("textbox", { name: "Range of the x axis" }).fill("5..1");
  await page.keyboard.press("Tab");
  await page.getByRole("alert").filter({ hasText: "nothing lies in the range" }).waitFor();
  assert.deepEqual(faults.splice(0).map((it) => / 400 /.test(it)), [true], "the server refused it");
  await page.getByRole("textbox", { name: "Range of the x axis" }).fill("900..");
  await page.keyboard.press("Tab");
  await page.locator(".several figcaption").filter({ hasText: "lie outside and are not drawn" }).waitFor();
  await page.getByRole("textbox", { name: "Title" }).fill("<b>Ours</b>");
  await page.keyboard.press("Tab");
  await page.locator(".several svg .figure-title").filter({ hasText: "<b>Ours</b>" }).waitFor();
  await page.locator(".several code, .several pre").filter({ hasText: "--x-range=900.." }).first().waitFor();
  await page.reload();
  await page.locator(".several svg .figure-title").filter({ hasText: "<b>Ours</b>" }).waitFor();
  await isAccessible(page, "figures of several runs");
  await fits(page, "figures of several runs");
  await go(page, `/run?run=${encodeURIComponent(run)}`);
  // Seldom, the browser closes the question before it is answered: then nothing is deleted.
  page.on("dialog", (dialog) => dialog.accept().catch(() => {}));
  const isDeleted = () => page.waitForFunction(() => location.hash === "#/runs", null, { timeout: 10_000 });
  await page.getByRole("button", { name: "Delete" }).click();
  await isDeleted().catch(async () => {
    await page.getByRole("button", { name: "Delete" }).click();
    await isDeleted();
  });
  assert.deepEqual(faults, []);
  assert.deepEqual([...hosts], [server.at]);
  await context.close();
});

test("many runs: in portions, found by what they answered, chosen with keys", async () => {
  const { page, context, faults } = await open(browser, server, { viewport: { width: 400, height: 800 } });
  const first = join(server.home, "runs", await ask(page));
  const copies = join(server.home, "runs", "copies");
  const plan = JSON.parse(await readFile(join(first, "plan.json"), "utf8"));
  for (let copy = 0; copy < 130; copy++) {
    const place = join(copies, `20200101T000000-${String(copy).padStart(8, "0")}`);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, "plan.json"), JSON.stringify({ ...plan, started: "2020-01-01T00:00:00Z" }));
    for (const file of ["run.json", "scenario.toml"]) await copyFile(join(first, file), join(place, file));
  }
  await go(page, "/runs");
  const cards = page.locator(".run-card"), found = page.locator("main [role=status]");
  const shows = (words) => page.waitForFunction((text) => document.querySelector("main [role=status]").textContent.includes(text), words);
  await shows("60 of ");
  assert.equal(await cards.count(), 60);
  await fits(page, "many runs");
  // With keys alone: what is chosen keeps the focus, and what is added takes it.
  await page.locator(".run-card input").nth(3).focus();
  await page.keyboard.press("Space");
  assert.ok(await page.evaluate(() => document.activeElement.matches(".run-card:nth-child(4) input:checked")));
  await page.getByRole("button", { name: "Show more" }).focus();
  await page.keyboard.press("Enter");
  await shows("120 of ");
  assert.ok(await page.evaluate(() => document.activeElement.matches(".run-card:nth-child(61) input")));
  await isAccessible(page, "many runs");
  // By the place of the oldest, and by an answer, of which nothing was read yet.
  const filter = page.getByRole("searchbox");
  await filter.fill("-00000000");
  await shows("1 of 1 that fit");
  await filter.fill("goodput");
  await page.waitForFunction(() => /^60 of \d+ that fit/.test(document.querySelector("main [role=status]").textContent));
  assert.ok(Number(/^60 of (\d+) that fit/.exec(await found.textContent())[1]) >= 131, await found.textContent());
  await filter.fill("nosuch");
  await shows("No run has this");
  assert.equal(await cards.count(), 0);
  assert.equal(await page.getByRole("button", { name: "Figures with all chosen" }).isDisabled(), false, "it is still chosen");
  assert.deepEqual(faults, []);
  await rm(copies, { recursive: true });
  await context.close();
});

test("every page: accessible, light and dark, wide and narrow", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 400]) {
      const { page, context, faults } = await open(browser, server, { colorScheme, viewport: { width, height: 800 } });
      for (const hash of PAGES) {
        await go(page, hash);
        if (hash === "/" || hash === "/new") {
          await page.waitForSelector(".outlook svg");
          await isLegible(page, ".outlook .picture > svg");
        }
        await isAccessible(page, `${hash}, ${colorScheme}, ${width}`);
        await fits(page, `${hash}, ${width}`);
      }
      assert.deepEqual(faults, []);
      await context.close();
    }
  }
});

test("the file has the form's choices, and its mistakes are shown where they are", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const file = page.getByRole("textbox", { name: "The scenario file" });
  assert.match(await file.inputValue(), /preset = "lte"/);
  await page.getByRole("radio", { name: "dsl-25", exact: true }).check();
  await page.getByRole("checkbox", { name: "vegas" }).check();
  await page.getByText("Change the path").click();
  await page.getByRole("slider", { name: "One-way delay" }).fill("500");
  await page.waitForFunction(() => document.querySelector("textarea").value.includes("delay = "));
  const text = await file.inputValue();
  assert.match(text, /preset = "dsl-25"/);
  assert.match(text, /"vegas"/);
  await page.waitForSelector(".outlook svg");
  await file.fill(text.replace("[workload]", "[workloat]"));
  const mistake = page.locator(".mistakes li").first();
  await mistake.waitFor();
  assert.match(await mistake.textContent(), /workloa[td]/);
  assert.ok(await page.getByRole("button", { name: "Start" }).isDisabled());
  assert.match(await page.locator(".marks-of-mistakes mark").first().textContent(), /workloat/);
  await mistake.getByRole("button").click();
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
  // Keys that fit are offered.
  await file.fill("[path]\ndel");
  await page.getByRole("button", { name: "delay", exact: true }).click();
  assert.equal(await file.inputValue(), "[path]\ndelay = ");
  page.once("dialog", (dialog) => dialog.accept());
  await page.getByRole("button", { name: "Back to the form" }).click();
  await isReady(page);
  // Markup in a title is text.
  await file.fill((await file.inputValue()).replace(/title = .*/, 'title = "<img src=x onerror=alert(1)>"'));
  await isReady(page);
  assert.deepEqual(faults, []);
  await context.close();
});

test("with the keyboard alone, from the first page to a run", async () => {
  const { page, context } = await open(browser, server);
  await isReady(page);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await page.keyboard.press("Enter");
  const isStart = () => page.evaluate(() => document.activeElement.textContent === "Start");
  for (let presses = 0; presses < 60 && !(await isStart()); presses += 1) await page.keyboard.press("Tab");
  assert.ok(await isStart(), "the button is not reached");
  await page.keyboard.press("Enter");
  await page.waitForSelector("iframe.report", { timeout: 60_000 });
  await context.close();
});

test("two pages see one run, and find it when the server comes back", async (t) => {
  const own = await serve();
  let latest = own;
  t.after(() => latest.forget());
  const { page: first, context } = await open(browser, own);
  await go(first, "/new");
  await isReady(first);
  // At twenty moments of interruptions.
  await first.getByRole("spinbutton", { name: "Trials" }).fill("400");
  await first.waitForFunction(() => document.querySelector("textarea").value.includes("trials = 20\n"));
  await isReady(first);
  await first.getByRole("button", { name: "Start" }).click();
  await first.getByText(/^Trial \d+ of 1200/).waitFor({ timeout: 30_000 });
  const job = await first.evaluate(() => location.hash);
  const made = decodeURIComponent(/run=([^&]+)/.exec(await first.getByRole("link", { name: "Watch this trial" }).getAttribute("href"))[1]);
  const third = await context.newPage();
  await third.goto(`http://${own.at}/#/run?run=${encodeURIComponent(made)}`);
  // What would be refused is not offered, and its progress is.
  await third.getByRole("link", { name: /^tcplab run / }).waitFor();
  for (const name of ["Resume", "Delete"]) assert.equal(await third.getByRole("button", { name }).count(), 0);
  await third.close();
  const second = await context.newPage();
  await second.goto(`http://${own.at}/${job}`);
  await second.getByText(/^Trial \d+ of 1200/).waitFor({ timeout: 30_000 });
  await isAccessible(second, "a run in progress");
  await second.getByRole("button", { name: "Stop" }).click();
  for (const page of [first, second]) {
    await page.getByText("Ended before it was finished.").waitFor({ timeout: 30_000 });
    assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "An experiment that is not finished");
  }
  await second.getByRole("link", { name: "Open the run" }).click();
  await second.getByRole("button", { name: "Resume" }).click();
  await second.getByText(/^Trial \d+ of 1200/).waitFor({ timeout: 30_000 });
  await own.end("SIGKILL");
  await second.getByText("No connection to the server").waitFor({ timeout: 30_000 });
  latest = await serve({ home: own.home, listen: own.at });
  await go(second, "/runs");
  await second.getByText("Not finished.").waitFor();
  await context.close();
});

test("without the token the page says what to do", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const response = await page.goto(`http://${server.at}/`);
  assert.equal(response.status(), 401);
  assert.match(await page.textContent("body"), /open the link that `tcplab ui` printed/);
  await context.close();
});

test("a trial is run again with a change of its path", async () => {
  const { page, context, faults } = await open(browser, server);
  await ask(page);
  await page.locator(".watch a").first().click();
  const steering = page.locator(".steering");
  await steering.waitFor();
  // Its whole history has come.
  await page.getByRole("button", { name: "Play" }).waitFor();
  await page.getByRole("slider", { name: "Time" }).fill("0.5");
  await steering.getByRole("combobox", { name: "Direction" }).selectOption("reverse");
  await steering.getByRole("spinbutton", { name: "Rate, Mbit/s" }).fill("1");
  await steering.locator(".change", { hasText: "Rate" }).getByRole("button").click();
  await steering.locator(".change", { hasText: "Drop the next" }).getByRole("button").click();
  await steering.locator("ol li").nth(1).waitFor();
  await steering.getByText("The scenario with these events").click();
  assert.match(await steering.locator("pre").textContent(), /\[\[path\.events\]\]/);
  await isAccessible(page, "changes of a path");
  const before = page.url();
  await steering.getByRole("button", { name: "Run this trial again" }).click();
  await page.waitForURL((url) => url.href !== before && url.href.includes("-changed"), { timeout: 60_000 });
  await page.getByText(/dropped by event/).first().waitFor({ timeout: 30_000 });
  assert.deepEqual(faults, []);
  await context.close();
});

/** A capture of one transfer: so many segments of 100 bytes, each acknowledged. */
const transfer = (packets) => {
  const size = 16 + 40 + 0, record = Buffer.alloc(size);
  const file = Buffer.alloc(24 + packets * size);
  file.writeUInt32LE(0xa1b2c3d4, 0);
  file.writeUInt16LE(2, 4);
  file.writeUInt16LE(4, 6);
  file.writeUInt32LE(96, 16);
  // LINKTYPE_RAW
  file.writeUInt32LE(101, 20);
  for (let number = 0; number < packets; number += 1) {
    const isData = number % 2 === 0, at = number * 100, sent = Math.floor(number / 2) * 100;
    record.fill(0);
    record.writeUInt32LE(1_700_000_000 + Math.floor(at / 1e6), 0);
    record.writeUInt32LE(at % 1e6, 4);
    record.writeUInt32LE(40, 8);
    record.writeUInt32LE(isData ? 140 : 40, 12);
    const ip = record.subarray(16), tcp = ip.subarray(20);
    ip.writeUInt8(0x45, 0);
    ip.writeUInt16BE(isData ? 140 : 40, 2);
    ip.writeUInt16BE((number >> 1) & 0xffff, 4);
    ip.writeUInt8(64, 8);
    ip.writeUInt8(6, 9);
    ip.set(isData ? [10, 0, 0, 1, 10, 0, 0, 2] : [10, 0, 0, 2, 10, 0, 0, 1], 12);
    tcp.writeUInt16BE(isData ? 40000 : 80, 0);
    tcp.writeUInt16BE(isData ? 80 : 40000, 2);
    tcp.writeUInt32BE(isData ? 1 + sent : 1, 4);
    tcp.writeUInt32BE(isData ? 1 : 1 + sent + 100, 8);
    tcp.writeUInt8(0x50, 12);
    tcp.writeUInt8(isData ? 0x18 : 0x10, 13);
    tcp.writeUInt16BE(65535, 14);
    record.copy(file, 24 + number * size);
  }
  return file;
};

test("a capture of a million packets is dropped, read and opened", async () => {
  const { page, context, faults, hosts } = await open(browser, server);
  await go(page, "/capture");
  const file = join(server.home, "million.pcap");
  await writeFile(file, transfer(1_000_000));
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByText(/1,000,000 packets/).first().waitFor({ timeout: 120_000 });
  await isAccessible(page, "a capture");
  await fits(page, "a capture");
  await page.locator(".connections tbody tr a, .connections tbody tr button").first().click();
  await page.waitForFunction(() => document.querySelector("iframe.report"), null, { timeout: 120_000 });
  assert.deepEqual(faults, []);
  assert.deepEqual([...hosts], [server.at]);
  await context.close();
});

test("the graphs of a capture draw what one chooses", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/capture");
  const file = join(server.home, "small.pcap");
  await writeFile(file, transfer(2_000));
  await page.locator("input[type=file]").setInputFiles(file);
  await page.locator(".connections tbody tr a, .connections tbody tr button").first().click();
  await page.waitForSelector("iframe.report", { timeout: 60_000 });
  const report = page.frameLocator("iframe.report");
  const span = report.getByLabel("Average throughput over").first();
  await span.fill("0.05");
  await span.press("Enter");
  await report.getByText("moving average over 0.05 s").first().waitFor({ timeout: 30_000 });
  // What is no span is refused in words, and the graph stays.
  await span.fill("-1");
  await span.press("Enter");
  await report.locator(".average .fault", { hasText: /\S/ }).first().waitFor({ timeout: 30_000 });
  assert.equal(await report.getByText("moving average over 0.05 s").count(), 1);
  assert.deepEqual(faults, []);
  await context.close();
});

test("packets are listed by a display filter", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/capture");
  const file = join(server.home, "filtered.pcap");
  await writeFile(file, transfer(2_000));
  await page.locator("input[type=file]").setInputFiles(file);
  const filter = page.getByLabel("Display filter of packets");
  // Of the whole capture, with a way to each packet.
  await filter.fill("frame.number in {3, 5..8} && tcp");
  await filter.press("Enter");
  await page.getByText("5 of 2000 packets").waitFor({ timeout: 60_000 });
  assert.equal(await page.locator(".packets tbody tr").count(), 5);
  await isAccessible(page, "packets of a capture");
  await fits(page, "packets of a capture");
  await page.locator(".packets").getByRole("link", { name: "#7", exact: true }).click();
  await page.getByRole("heading", { name: "Connection 0" }).waitFor();
  assert.equal(await page.getByLabel("Frame number").inputValue(), "7");
  await filter.fill("frame.number in {5..8} && tcp");
  await filter.press("Enter");
  await page.getByText("4 of 2000 packets").waitFor({ timeout: 60_000 });
  await isAccessible(page, "packets by a display filter");
  // A mistake is shown where it is.
  await filter.fill("tcp.len > many");
  await page.getByRole("button", { name: "List these packets" }).click();
  await page.getByRole("alert").getByText("expected a number, such as 1460 or 0x5b4, not `many`").waitFor({ timeout: 30_000 });
  await fits(page, "packets by a display filter");
  // The browser reports the answer to the mistake, too.
  assert.deepEqual(faults.filter((fault) => !fault.includes("400")), []);
  await context.close();
});

/** What a packet as bytes looks like: its legend, what its bytes stand on, and where a line is. */
const colours = (place) => place.evaluate((element) => {
  const ground = (it) => getComputedStyle(it).backgroundColor;
  const bytes = [...element.querySelectorAll(".dump b")];
  const rows = Object.fromEntries([...element.querySelectorAll(".fields tr")].filter((row) => row.cells.length === 3)
    .map((row) => [row.cells[0].textContent, ground(row.cells[0])]));
  return {
    legend: [...element.querySelectorAll(".colours li")].map((item) => item.textContent),
    bytes: bytes.map(ground), letters: [...element.querySelectorAll(".dump i")].map(ground),
    begin: bytes.flatMap((it, place) => (getComputedStyle(it).boxShadow === "none" ? [] : [place])),
    marked: bytes.flatMap((it, place) => (it.classList.contains("on") ? [place] : [])), rows,
  };
});

test("bytes of a packet are coloured by what they are of", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/capture");
  const file = join(server.home, "coloured.pcap");
  await writeFile(file, transfer(200));
  await page.locator("input[type=file]").setInputFiles(file);
  await page.locator(".connections tbody tr a").first().click();
  await page.getByLabel("Frame number").fill("5");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  const place = page.locator("main .as-bytes");
  await place.waitFor({ timeout: 60_000 });
  const seen = await colours(place);
  assert.deepEqual(seen.legend, ["IPv4 header, 20 B", "TCP header, 20 B"]);
  // Where the fields of RFC 791 and RFC 9293 begin; those that share bytes are one.
  assert.deepEqual(seen.begin, [0, 1, 2, 4, 6, 8, 9, 10, 12, 16, 20, 22, 24, 28, 32, 34, 36, 38]);
  assert.deepEqual(seen.letters, seen.bytes);
  for (const [at, start] of seen.begin.entries()) {
    const next = seen.begin[at + 1] ?? 40;
    assert.equal(new Set(seen.bytes.slice(start, next)).size, 1, `byte ${start}`);
    if (next < 40) assert.notEqual(seen.bytes[next], seen.bytes[start], `byte ${next}`);
  }
  assert.equal(new Set(seen.bytes).size, 4, "two shades of two layers");
  assert.equal(seen.rows["source port"], seen.bytes[20]);
  assert.equal(seen.rows["destination port"], seen.bytes[22]);
  await place.locator(".dump b").nth(30).hover();
  assert.deepEqual((await colours(place)).marked, [28, 29, 30, 31]);
  await page.mouse.move(0, 0);
  assert.deepEqual((await colours(place)).marked, []);
  // The keyboard goes through the fields.
  await place.locator(".fields").focus();
  for (let nth = 0; nth < 5; nth += 1) await page.keyboard.press("ArrowDown");
  assert.deepEqual((await colours(place)).marked, [2, 3]);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await isAccessible(page, `a marked field, ${colorScheme}`);
    await page.keyboard.press("End");
  }
  await page.emulateMedia({ colorScheme: "light" });
  await isWell(page, "a packet as bytes");
  // The report of the connection has the same.
  const report = page.frameLocator("iframe.report");
  await report.locator("details.packets > summary").first().click();
  await report.locator(".list button").nth(4).click();
  const other = await colours(report.locator(".as-bytes"));
  assert.deepEqual([other.legend, other.begin, other.marked], [seen.legend, seen.begin, []]);
  await isAccessible(page.frames().at(-1), "packets of a report");
  assert.deepEqual(faults, []);
  await context.close();
});

test("drawing takes a quarter of the time where frames are late, and goes on", async () => {
  const { page, context, faults } = await open(browser, server);
  const drawn = await page.evaluate(async () => {
    const { Pace } = await import("/chart.js");
    const pace = new Pace();
    let moment = 0;
    /** Drawings in ten seconds, where a frame that is drawn in takes so long, milliseconds. */
    const inTenSeconds = (takes) => {
      let count = 0;
      for (const until = moment + 1e4; moment < until;) {
        const isDrawn = pace.isDue(moment);
        count += Number(isDrawn);
        moment += isDrawn ? takes : 1e3 / 60;
      }
      return count / 10;
    };
    return [inTenSeconds(1e3 / 60), inTenSeconds(37), inTenSeconds(500), inTenSeconds(1e3 / 60)];
  });
  const [inTime, late, stuck, again] = drawn;
  assert.ok(inTime > 29 && inTime < 31 && again > 29 && again < 31, `${drawn}`);
  assert.ok(late > 10 && late < 13, `${drawn}`);
  assert.ok(stuck >= 1.9, `${drawn}`);
  assert.deepEqual(faults, []);
  await context.close();
});
