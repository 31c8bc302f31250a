// Latency to a host: watched while it is measured, kept, opened again.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";

import { follow, go, isAccessible, isWell, launch, open, serve } from "./place.mjs";

/** A server of tcplab, which ends with its standard input. */
const service = async (name) => {
  const child = spawn(process.env.TCPLAB ?? "tcplab", ["server", "--service", name, "--control"], { stdio: ["pipe", "pipe", "ignore"] });
  const [line] = await once(child.stdout, "data");
  const { listening } = JSON.parse(String(line));
  return { port: listening.split(":").pop(), end: () => child.stdin.end() };
};

/** A third host, which measures to this port when it is asked. @param {string} port */
const thirdHost = async (port) => {
  const child = spawn(process.env.TCPLAB ?? "tcplab", ["latency", `127.0.0.1:${port}`, "--on-request", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  const [line] = await once(child.stderr, "data");
  return { port: String(line).match(/^waiting at 127\.0\.0\.1:(\d+)/)[1], end: () => child.kill() };
};

let browser, server, answering, discard;
before(async () => {
  [browser, server, answering, discard] = await Promise.all([launch(), serve(), service("latency"), service("discard")]);
});
after(async () => {
  await browser?.close();
  answering?.end();
  discard?.end();
  await server?.forget();
});

test("latency is seen while it is measured, saved, and opened again", async () => {
  const { page, context, faults, hosts } = await open(browser, server);
  await go(page, "/latency");
  await isWell(page, "the form of latency");
  await page.getByRole("textbox", { name: "Host", exact: true }).fill("127.0.0.1");
  await page.getByRole("spinbutton", { name: "Port", exact: true }).fill(answering.port);
  await page.getByText(`--service latency --address 0.0.0.0 --port ${answering.port}`).waitFor();
  await page.getByRole("combobox", { name: "Unit of the duration" }).selectOption("");
  await page.getByRole("combobox", { name: "Load" }).selectOption("up");
  await page.getByRole("spinbutton", { name: "Idle time, s" }).fill("1");
  await page.getByRole("spinbutton", { name: "Port of the discard server" }).fill(discard.port);
  await isWell(page, "the form with a load");
  await page.getByRole("button", { name: "Start" }).click();
  // It goes on until it is stopped; the table has both parts, and the charts have values.
  await page.getByRole("rowheader", { name: "there, under load" }).waitFor({ timeout: 30_000 });
  await page.getByText("Throughput of the load").waitFor({ timeout: 30_000 });
  await page.waitForFunction(() => /[0-9] (µs|ms)/.test(document.querySelector(".live-chart output").textContent));
  assert.match(await page.locator(".job .command code").textContent(), /^tcplab latency 127\.0\.0\.1:\d+ --interval=10ms --duration=8784h /);
  await isAccessible(page, "a measurement");
  await page.getByRole("button", { name: "Latest minute" }).press("Enter");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".job").getByText("Done.").waitFor({ timeout: 30_000 });
  await page.getByRole("link", { name: /\.csv$/ }).waitFor();
  assert.match(await page.locator(".meanings").textContent(), /Lost0 \(0 %\)/);
  await isWell(page, "a measurement that has ended");
  for (const [ending, begin] of [["svg", /<svg/], ["csv", /^host,at_unix_seconds/], ["json", /tcplab\.latency/]]) {
    const saving = page.waitForEvent("download");
    await page.getByRole("link", { name: new RegExp(`\\.${ending}$`) }).click();
    const saved = await saving;
    assert.match(saved.suggestedFilename(), new RegExp(`^127\\.0\\.0\\.1_${answering.port}-\\d+\\.${ending}$`));
    let text = "";
    for await (const piece of await saved.createReadStream()) text += piece;
    assert.match(text, begin);
  }
  await follow(page, page.getByRole("link", { name: "Open it again" }));
  await page.getByRole("heading", { name: `Latency to 127.0.0.1:${answering.port}` }).waitFor();
  await page.waitForFunction(() => document.querySelector(".gains tbody tr"));
  await isWell(page, "a result");
  await go(page, "/latency");
  const kept = page.getByRole("link", { name: `127.0.0.1:${answering.port}`, exact: true });
  assert.equal(await kept.count(), 1);
  await kept.click();
  page.once("dialog", (dialog) => dialog.accept());
  await page.getByRole("button", { name: "Delete" }).click();
  await page.waitForFunction(() => location.hash === "#/latency");
  await page.getByText("Since this server started").waitFor();
  assert.equal(await kept.count(), 0);
  assert.deepEqual(faults, []);
  assert.deepEqual([...hosts], [server.at]);
  await context.close();
});

test("what a third host sees meanwhile is asked for, and shown", async () => {
  const third = await thirdHost(answering.port);
  const { page, context, faults } = await open(browser, server);
  await go(page, "/latency");
  await page.getByRole("textbox", { name: "Host", exact: true }).fill("127.0.0.1");
  await page.getByRole("spinbutton", { name: "Port", exact: true }).fill(answering.port);
  await page.getByRole("spinbutton", { name: "Duration" }).fill("1");
  await page.getByText("What a third host sees meanwhile").click();
  await page.getByRole("textbox", { name: "Third host" }).fill("127.0.0.1");
  await page.getByRole("spinbutton", { name: "Port of the third host" }).fill(third.port);
  await page.getByText(`tcplab latency 127.0.0.1:${answering.port} --on-request 0.0.0.0:${third.port}`).waitFor();
  await isWell(page, "the form with a third host");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("heading", { name: `Meanwhile, from the third host 127.0.0.1:${third.port}` }).waitFor({ timeout: 30_000 });
  await page.getByText(`RTT from 127.0.0.1:${third.port}`).waitFor();
  await page.waitForFunction(() => /[0-9] (µs|ms)/.test([...document.querySelectorAll(".live-chart output")].at(-1).textContent));
  await isWell(page, "a measurement with a third host");
  third.end();
  assert.deepEqual(faults, []);
  await context.close();
});

test("a host that is none is refused, and one that does not answer explained", async () => {
  const { page, context, faults, hosts } = await open(browser, server);
  await go(page, "/latency");
  const host = page.getByRole("textbox", { name: "Host", exact: true });
  await host.fill("<img src=x onerror=alert(1)>");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("a host is a name or an address").waitFor();
  assert.deepEqual(faults.filter((it) => !it.includes("400")), []);
  await host.fill("127.0.0.1");
  await page.getByRole("spinbutton", { name: "Port", exact: true }).fill("1");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("no answer to probes from 127.0.0.1:1").waitFor({ timeout: 30_000 });
  await page.getByText("start `tcplab server --service latency").waitFor();
  await isWell(page, "a measurement that failed");
  assert.deepEqual([...hosts], [server.at]);
  await context.close();
});
