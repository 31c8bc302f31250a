// A server with runs of its own, a browser, and a page that reports what goes wrong in it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";

import { chromium } from "playwright-core";

const PROGRAM = process.env.TCPLAB ?? "tcplab";
/** The rules of axe-core, run in the page's own context. */
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A server; `home` and `listen` are given for one that takes another's place. */
export const serve = async ({ home = null, listen = "127.0.0.1:0" } = {}) => {
  home ??= await mkdtemp(join(tmpdir(), "tcplab-page-"));
  const child = spawn(PROGRAM, ["ui", "--no-browser", "--listen", listen, "--runs", join(home, "runs")], {
    cwd: home,
    env: { ...process.env, XDG_CACHE_HOME: join(home, "cache"), TCPLAB_KERNELS: join(home, "none") },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(child.stdout, "data");
  const link = String(line).trim();
  const ended = once(child, "exit");
  return {
    link, home, at: new URL(link).host,
    /** Ends it. */
    end: async (signal = "SIGINT") => {
      child.kill(signal);
      await ended;
    },
    forget: async () => {
      child.kill("SIGKILL");
      await ended;
      // A run may end later than its server.
      await rm(home, { recursive: true, force: true, maxRetries: 20 });
    },
  };
};

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});

/** Opens the link. What the page complains of, and whom it asks, is kept in `faults` and `hosts`. */
export const open = async (browser, server, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const faults = [], hosts = new Set();
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!["blob:", "data:", "about:"].includes(url.protocol)) hosts.add(url.host);
  });
  await page.goto(server.link);
  await page.waitForSelector("h1");
  return { page, context, faults, hosts };
};

/** Goes to another page of the application. */
export const go = async (page, hash) => {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await page.waitForSelector(`main[data-page="${hash.split("?")[0]}"]`);
};

/** Follows a link to another page, which may be one of the same kind. */
export const follow = async (page, link) => {
  await page.evaluate(() => document.querySelector("main .page").setAttribute("data-left", ""));
  await link.click();
  await page.waitForSelector("main[data-page] .page:not([data-left])");
};

/** No rule of WCAG 2.2 A and AA is broken. */
export const isAccessible = async (page, what) => {
  // Through the debugger, which the page's policy does not bind.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  });
  assert.deepEqual(found, [], what);
};

/** Nothing is wider than the window. */
export const fits = async (page, what) => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 1, `${what} is ${wide} pixels too wide`);
};

/** The page is well, at both widths. */
export const isWell = async (page, what) => {
  for (const width of [1280, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await isAccessible(page, `${what}, ${width}`);
    await fits(page, `${what}, ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
};

/** Letters of a picture have ten pixels at least. */
export const isLegible = async (page, selector) => {
  const sizes = await page.locator(selector).evaluate((svg) => [...svg.querySelectorAll("text")]
    .filter((text) => text.getBoundingClientRect().width > 0)
    .map((text) => Number.parseFloat(getComputedStyle(text).fontSize) * svg.getScreenCTM().a));
  assert.ok(sizes.length > 0 && Math.min(...sizes) >= 10, `${selector}: ${Math.min(...sizes)} pixels`);
};
