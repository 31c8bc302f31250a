// What the page of a run or of a capture offers next, and what is printed of it.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { fits, go, isAccessible, launch, open, serve } from "./place.mjs";

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.forget();
});

/** As the form writes it. */
const INTERRUPTED = `
title = "Interrupted"
[path]
preset = "lte"
interruption = { every = "1 s", lasting = "100 ms", offset = "250 ms" }
[workload]
download = "1 MB"
[matrix]
"server.socket.congestion" = ["reno", "cubic"]
"path.interruption.offset" = ["250 ms", "750 ms"]
[repeat]
trials = 1
`;

/** Runs it to its end; the run's name. */
const run = (page, toml, name) => page.evaluate(async ([text, of]) => {
  const { get, post } = await import("/api.js");
  const { id } = await post("/api/jobs", { do: "run", world: "sim", toml: text, name: of, seed: 3 });
  for (;;) {
    const job = await get(`/api/jobs/${id}`);
    if (!job.is_running) return job.run;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}, [toml, name]);

/** Has the run's answer be another one. */
const answering = (page, answer) => page.route(/\/api\/run\?/, async (route) => {
  const it = await (await route.fetch()).json();
  it.told.answer = answer;
  await route.fulfill({ json: it });
});

test("where an answer needs more cases, the run gets more moments of the interruption", async () => {
  const { page, context, faults } = await open(browser, server);
  const name = await run(page, INTERRUPTED, "moments");
  const there = `/run?run=${encodeURIComponent(name)}`, more = page.getByRole("button", { name: "Interrupt at 4 moments" });
  await answering(page, "Goodput is decided.");
  await go(page, there);
  await page.getByRole("button", { name: "Extend" }).waitFor();
  assert.equal(await more.count(), 0);
  await page.unroute(/\/api\/run\?/);
  await answering(page, "Not decided: inconclusive: about 179 more cases needed.");
  await go(page, "/runs");
  await go(page, there);
  await page.getByText("More trials of these cases do not decide it").waitFor();
  await isAccessible(page, "a run that needs more cases");
  await more.click();
  await page.waitForSelector('main[data-page="/job"]');
  await page.waitForSelector('main[data-page="/run"]', { timeout: 60_000 });
  const now = await page.evaluate(async (of) => (await import("/api.js")).get("/api/run", { run: of }), name);
  assert.match(now.scenario, /"path\.interruption\.offset" = \["0 ms", "250 ms", "500 ms", "750 ms"\]/);
  assert.deepEqual(now.trials.map((it) => [it.level, it.state]), ["reno", "cubic"].flatMap((level) => Array(4).fill([level, "whole"])));
  const others = await page.evaluate(async (toml) => {
    const { moreMoments, needsCases } = await import("/moments.js");
    const moments = (count) => toml.replace(/^"path\.interruption.*$/m, `"path.interruption.offset" = [${Array.from({ length: count }, (_, at) => `"${10 * at + 5} ms"`).join(", ")}]`);
    return {
      none: [toml.replace(/^"path\.interruption.*$/m, ""), toml.replace('every = "1 s"', 'at = ["1 s"]'), moments(41)].map(moreMoments),
      most: moreMoments(moments(40)).moments,
      needs: ["inconclusive, about 14 more cases needed (x)", "about 5 more needed", "more than 10,000 more cases needed"].map(needsCases),
    };
  }, INTERRUPTED);
  assert.deepEqual(others, { none: [null, null, null], most: 80, needs: [true, false, true] });
  // Of a file of another kind the page says what to type.
  await page.unroute(/\/api\/run\?/);
  await page.route(/\/api\/run\?/, async (route) => {
    const it = await (await route.fetch()).json();
    it.told.answer = "About 14 more cases needed";
    it.scenario = 'title = "Other"';
    await route.fulfill({ json: it });
  });
  await go(page, "/runs");
  await go(page, there);
  await page.getByText(`tcplab run FILE --extend ${name}`).waitFor();
  await fits(page, "a run");
  assert.deepEqual(faults, []);
  await context.close();
});

test("of a report in a frame the print has a line that leads to it", async () => {
  const { page, context, faults } = await open(browser, server);
  const name = await run(page, INTERRUPTED, "print");
  await go(page, `/run?run=${encodeURIComponent(name)}`);
  const frame = page.locator("iframe.report"), instead = page.getByText("Report: to print it, open it by itself");
  await frame.waitFor();
  assert.deepEqual([await frame.isVisible(), await instead.isVisible()], [true, false]);
  await page.emulateMedia({ media: "print" });
  assert.deepEqual([await frame.isVisible(), await instead.isVisible()], [false, true]);
  const report = await instead.locator("a").getAttribute("href");
  assert.equal(report, await frame.getAttribute("src"));
  assert.ok((await instead.textContent()).includes(report));
  assert.deepEqual(faults, []);
  await context.close();
});

test("a file that is no capture is named as it is, and gets no advice", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/capture");
  const file = join(server.home, "bad.pcap");
  await writeFile(file, "no capture");
  await page.locator("input[type=file]").setInputFiles(file);
  const why = page.getByRole("alert").filter({ hasText: "bad.pcap" });
  await why.waitFor();
  assert.match(await why.textContent(), /^bad\.pcap: .*\.$/);
  assert.ok(await page.getByText("Advice for its largest connection").isHidden());
  assert.deepEqual(faults, []);
  await context.close();
});
