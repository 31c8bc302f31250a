// The page of `tcplab shell --ui`: any program's traffic while it passes.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { fits, isAccessible, launch, open } from "./place.mjs";

const PROGRAM = process.env.TCPLAB ?? "tcplab";

/** Sends until there is a file `end`, but nothing while there is a file `pause`. */
const CLIENT = `import os, socket, time
c = socket.create_connection((os.environ["TCPLAB_FAR"], 5000))
while not os.path.exists("end"):
    c.sendall(bytes(0 if os.path.exists("pause") else 20000)); time.sleep(0.05)`;
const SERVER = `import socket
c = socket.create_server(("", 5000)).accept()[0]
while c.recv(65536): pass`;

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

const shell = async () => {
  const home = await mkdtemp(join(tmpdir(), "tcplab-page-"));
  await writeFile(join(home, "server.py"), SERVER);
  const child = spawn(PROGRAM, ["shell", "dsl-25", "-s", "forward.rate=8 Mbit/s", "--ui=link", "--far-command", "python3 server.py", "--wait-for", "5000", "--", "python3", "-c", CLIENT], {
    cwd: home,
    env: { ...process.env, XDG_CACHE_HOME: join(home, "cache"), TMPDIR: home },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const link = await new Promise((resolve) => {
    child.stderr.on("data", (data) => {
      said += data;
      const found = /http:\S+/.exec(said);
      if (found) resolve(found[0]);
    });
  });
  const ended = once(child, "exit");
  // Where namespaces are forbidden it ends at once, and says so.
  const early = await Promise.race([ended, new Promise((resolve) => { setTimeout(resolve, 1500); })]);
  return {
    link, home, at: new URL(link).host, skipped: early && /namespace/.test(said) ? said : null,
    end: async () => {
      await writeFile(join(home, "end"), "");
      await ended;
    },
    forget: async () => {
      child.kill("SIGTERM");
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
};

test("a program's traffic is watched, its path changed, and its end told", async (t) => {
  const program = await shell();
  t.after(() => program.forget());
  if (program.skipped) {
    t.skip(program.skipped);
    return;
  }
  const { page, context, faults, hosts } = await open(browser, program);
  assert.ok(!page.url().includes("token"), "the token is in the address");
  assert.match(await page.textContent("h1"), /Traffic through dsl-25/);
  await page.waitForFunction(() => document.querySelectorAll(".live-chart canvas").length === 6);
  await page.waitForSelector(".rungs tbody tr");
  await page.waitForFunction(() => /ms/.test(document.querySelector(".live-chart:nth-child(4) output").textContent));
  const both = page.locator(".both-ends tbody").first();
  await both.getByText("ESTABLISHED").first().waitFor();
  assert.match(await both.locator("tr").first().textContent(), /near.*10\.98\..*open.*kB/);
  await page.getByText("The latest packets as a table").click();
  const table = page.getByRole("region", { name: "Packets as a table" });
  await table.locator("tbody tr").nth(10).waitFor();
  await page.getByRole("searchbox", { name: "Search packets" }).fill("syn");
  assert.equal(await table.locator("tbody tr").count(), 2);
  await table.getByRole("button", { name: "time" }).click();
  assert.equal(await table.locator("th[aria-sort=descending]").textContent(), "time");
  await isAccessible(page, "traffic");
  const steering = page.locator(".steering");
  await steering.getByRole("combobox", { name: "Direction" }).selectOption("forward");
  await steering.locator(".change", { hasText: "Drop the next" }).getByRole("button").click();
  await steering.locator("ol li").first().waitFor();
  assert.match(await steering.locator("ol li").first().textContent(), /drop the next 1, near to far/);
  assert.match(await steering.locator("pre").textContent(), /\[\[events\]\]/);
  await page.getByText(/near to far: .*dropped by event/).first().waitFor();
  for (const colorScheme of ["light", "dark"]) {
    const narrow = await open(browser, program, { colorScheme, viewport: { width: 400, height: 800 } });
    await narrow.page.waitForSelector(".rungs tbody tr");
    await isAccessible(narrow.page, `traffic, ${colorScheme}, narrow`);
    await fits(narrow.page, "traffic");
    await narrow.context.close();
  }
  // While it is silent nothing passes, and time goes on.
  await writeFile(join(program.home, "pause"), "");
  const readings = () => page.evaluate(() => ({
    clock: Number.parseFloat(document.querySelector(".clock").textContent),
    values: [...document.querySelectorAll(".live-chart:nth-child(n + 3) output")].map((it) => it.textContent).filter((it) => /bit|µs/.test(it)),
  }));
  const still = () => page.waitForFunction(() => [3, 5, 6].every((chart) => {
    const shown = [...document.querySelectorAll(`.live-chart:nth-child(${chart}) output`)].map((it) => it.textContent).filter(Boolean);
    return shown.length === 2 && shown.every((it) => /^0 /.test(it));
  }));
  await still();
  const before = await readings();
  await page.waitForTimeout(1500);
  const after = await readings();
  assert.ok(after.clock > before.clock + 1, `${before.clock} s, then ${after.clock} s`);
  assert.deepEqual(after.values, before.values);
  await program.end();
  // A page that is left open says so, and keeps what it shows.
  await page.locator(".lead").getByText("The program has ended.").waitFor();
  assert.ok(await steering.getByRole("button", { name: "Now" }).first().isDisabled());
  await page.getByRole("slider", { name: "Time" }).fill("0.9");
  await page.waitForTimeout(500);
  assert.ok(await page.locator(".rungs tbody tr").count() > 1, "packets are gone");
  await isAccessible(page, "traffic that is over");
  assert.deepEqual(faults, []);
  assert.deepEqual([...hosts], [program.at]);
  const left = (await readdir(program.home)).filter((name) => name.startsWith("tcplab-"));
  assert.deepEqual(left, []);
  await context.close();
});
