// The form of an experiment: what it can say, its paths, and where its parts stand.

import assert from "node:assert/strict";
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

const isReady = (page) => page.waitForSelector(".begin .primary:not([disabled])");

test("all that the form can write is an experiment without mistakes", async () => {
  const { page, context, faults } = await open(browser, server);
  const { wrong, count } = await page.evaluate(async () => {
    const [{ get, post }, { START, WORKS, factorsOf, scenarioOf }, { keyAt }, { OPTIONS }, { KNOBS }] = await Promise.all([
      import("/api.js"), import("/experiment_file.js"), import("/completion.js"), import("/experiment_form.js"), import("/fields.js")]);
    const [{ paths }, schema] = await Promise.all([get("/api/paths"), get("/api/schema")]);
    const texts = new Set();
    const lte = paths.find((it) => it.name === "lte");
    const add = (changes, path = lte) => {
      const wanted = { ...structuredClone(START), ...structuredClone(changes) };
      wanted.path.preset = path.name;
      texts.add(scenarioOf(wanted, path));
    };
    /** All levels of each factor, and one of each beside those of the question. */
    const factors = (base, path) => {
      const wanted = { ...structuredClone(START), ...base };
      const there = factorsOf(wanted, path);
      for (const factor of there) add({ ...base, factor: factor.key, levels: factor.choices }, path);
      add({ ...base, more: there.slice(1).map((it) => ({ factor: it.key, levels: it.choices.slice(0, 1) })) }, path);
      add({ ...base, factor: "queue", levels: ["1 bdp", "32 packets"], more: [{ factor: "delay", levels: ["5 ms"] }] }, path);
    };
    for (const { key: work } of WORKS) for (const interrupted of [true, false]) factors({ work, interrupted }, lte);
    for (const path of paths) {
      factors({ interrupted: false }, path);
      for (const knob of KNOBS.filter(({ key }) => key !== "rate" || !path.is_wireless)) {
        for (const share of [0.001, 0.5, 1]) add({ path: { preset: path.name, set: { [knob.key]: knob.write(knob.least * (knob.most / knob.least) ** share) } } }, path);
      }
      if (!path.is_wireless) add({ path: { preset: path.name, set: { rate: "0.1 Mbit/s", delay: "40 ms" } } }, path);
    }
    const stacks = keyAt(schema, ["client", "stack"]).kinds.flatMap((it) => it.enum ?? []);
    const values = (key) => {
      const [kind] = keyAt(schema, ["client", "socket", key]).kinds;
      if (key === "congestion") return ["reno", "cubic", "bbr", "vegas", "westwood"];
      if (kind.type === "boolean") return [true, false];
      if (kind.type === "integer") return [kind.minimum, kind.maximum];
      return key === "max_pacing_rate" ? ["1 kbit/s", "2.5 Mbit/s", "9999 Gbit/s"] : ["1 B", "48 KiB", "999999 KiB", "999 MiB"];
    };
    for (const end of ["client", "server"]) {
      const ends = (own) => ({ client: { stack: "", socket: {} }, server: { stack: "", socket: {} }, [end]: { stack: "", socket: {}, ...own } });
      for (const { key: work } of WORKS) {
        for (const stack of stacks) add({ work, ends: ends({ stack }) });
        for (const key of OPTIONS) for (const value of values(key)) add({ work, ends: ends({ socket: { [key]: value } }) });
        // What varies is not set besides.
        add({ work, factor: "stack", levels: ["model:windows-7"], ends: ends({ stack: "model:netburner", socket: { congestion: "reno" } }) });
      }
    }
    for (const { key: work } of WORKS) {
      for (const flows of [1, 2, 100]) for (const seed of ["", "0", "999999999999999999"]) add({ work, flows, seed });
      for (const most of [1, 10000]) add({ work, amount: most, count: most, request: most, response: most, pause: most, trials: Math.min(most, 1000) });
    }
    const wrong = [];
    const all = [...texts];
    await Promise.all(Array.from({ length: 4 }, async () => {
      for (let toml = all.pop(); toml; toml = all.pop()) {
        const { mistakes } = await post("/api/check", { toml, name: "x" });
        if (mistakes.length > 0) wrong.push(`${mistakes[0].what}: ${toml}`);
      }
    }));
    return { wrong: wrong.slice(0, 3), count: texts.size };
  });
  assert.deepEqual(wrong, []);
  assert.ok(count > 700, `${count} files`);
  assert.deepEqual(faults, []);
  await context.close();
});

test("several factors, both ends, several at once and a seed are in the file, are counted and run", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const file = page.getByRole("textbox", { name: "The scenario file" });
  for (const name of ["vegas", "bbr"]) await page.getByRole("checkbox", { name, exact: true }).setChecked(name === "vegas");
  await page.getByRole("spinbutton", { name: "Amount" }).fill("1");
  await page.getByLabel("with interruptions").uncheck();
  await page.getByRole("spinbutton", { name: "Trials" }).fill("2");
  await page.getByText("Vary something else, too").click();
  const next = page.getByRole("combobox", { name: "What varies besides" });
  await next.selectOption("buffer");
  assert.ok(!(await next.locator("option").evaluateAll((all) => all.map((it) => it.value))).includes("buffer"));
  const buffers = page.getByRole("group", { name: "receive buffer" }).last();
  await page.getByRole("textbox", { name: "Another level of receive buffer" }).fill("48 KiB");
  await page.keyboard.press("Enter");
  await buffers.getByRole("checkbox", { name: "16 KiB" }).uncheck();
  await next.selectOption("loss");
  await page.getByRole("button", { name: "Remove random loss" }).click();
  // Three controls, three buffers.
  assert.match(await page.locator(".cases").textContent(), /: 9 cases, 18 trials\.$/);
  await page.getByText("Both ends: stacks and socket options").click();
  await page.getByRole("combobox", { name: "TCP stack of the client" }).selectOption("model:linux-6.12");
  await page.getByRole("combobox", { name: "nodelay of the server" }).selectOption("true");
  await page.getByRole("textbox", { name: "sndbuf of the server" }).fill("2 MiB");
  // What varies is set there alone.
  assert.ok(await page.getByRole("textbox", { name: "rcvbuf of the client" }).isDisabled());
  assert.ok(await page.getByRole("combobox", { name: "congestion of the server" }).isDisabled());
  // What cannot be is not written.
  await page.getByRole("textbox", { name: "maxseg of the client" }).fill("5");
  assert.match(await page.locator(".estimate").textContent(), /^maxseg of the client: .*88 to 32767/);
  await page.getByRole("textbox", { name: "maxseg of the client" }).fill("1400");
  await page.getByText("Several at once, and the seed").click();
  await page.getByRole("spinbutton", { name: "Connections at once" }).fill("2");
  await page.getByRole("textbox", { name: "Seed" }).fill("7");
  assert.equal(await file.inputValue(), `title = "Which congestion control suits the path lte?"
question_factor = "server.socket.congestion"

[path]
preset = "lte"

[client]
stack = "model:linux-6.12"

[client.socket]
maxseg = 1400

[server.socket]
nodelay = true
sndbuf = "2 MiB"

[workload]
download = "1 MB"

[flow.each]
count = 2

[matrix]
"server.socket.congestion" = ["reno", "cubic", "vegas"]
"client.socket.rcvbuf" = ["64 KiB", "256 KiB", "48 KiB"]

[repeat]
trials = 2
seed = 7

# Headers, of each packet.
[recording]
snaplen = "96 B"
`);
  await page.locator(".estimate").filter({ hasText: "9 cases × 2 trials" }).waitFor();
  await isAccessible(page, "all sections of the form");
  // It is there again, with its sections open.
  await page.reload();
  await isReady(page);
  assert.equal(await page.getByRole("textbox", { name: "Seed" }).inputValue(), "7");
  await page.waitForFunction(() => document.querySelector("[aria-label='sndbuf of the server']")?.value === "2 MiB");
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector("iframe.report", { timeout: 120_000 });
  assert.deepEqual(faults, []);
  await context.close();
});

test("paths are chosen by their pictures, also with the keyboard", async () => {
  const { page, context, faults } = await open(browser, server);
  for (const [hash, first] of [["/new", "lte"], ["/advice", "lte"], ["/rfc6349", "dsl-25"], ["/", "lte"]]) {
    await go(page, hash);
    await page.waitForSelector(".outlook svg");
    const group = page.getByRole("group", { name: "Path", exact: true });
    const paths = group.getByRole("radio");
    const count = await paths.count();
    assert.ok(count >= 21, `${hash}: ${count}`);
    assert.equal(await group.locator(".path-card > svg .line").evaluateAll((lines) => new Set(lines.map((it) => it.closest("label"))).size), count, "each has a picture");
    const chosen = group.getByRole("radio", { checked: true });
    assert.equal(await chosen.inputValue(), first);
    // It is in sight, and the others are not in the way.
    const card = group.locator("label:has(:checked)");
    const isInSight = () => card.evaluate((it) => {
      const [own, strip] = [it.getBoundingClientRect(), it.parentElement.getBoundingClientRect()];
      return own.left >= strip.left - 1 && own.right <= strip.right + 1;
    });
    await page.waitForFunction(() => document.querySelector(".path-strip").scrollLeft > 0);
    assert.ok(await isInSight(), hash);
    const height = () => group.evaluate((it) => it.getBoundingClientRect().height);
    const low = await height();
    assert.ok(low < 270, `${hash}: ${low}`);
    await chosen.focus();
    await page.keyboard.press("ArrowRight");
    const now = await chosen.inputValue();
    assert.notEqual(now, first);
    assert.equal(await page.evaluate(() => document.activeElement.value), now, "the focus is on the chosen one");
    await page.waitForFunction(() => {
      const [own, strip] = [document.querySelector(".path-card:has(:checked)").getBoundingClientRect(), document.querySelector(".path-strip").getBoundingClientRect()];
      return own.left >= strip.left - 1 && own.right <= strip.right + 1;
    });
    // Its name and its title are told.
    assert.equal(await group.getByRole("radio", { name: now, exact: true }).count(), 1);
    assert.ok(await chosen.evaluate((it) => document.getElementById(it.getAttribute("aria-describedby")).textContent.length > 10));
    const all = group.getByRole("button");
    await all.click();
    assert.equal(await all.getAttribute("aria-expanded"), "true");
    assert.ok(await height() > 2 * low);
    await isAccessible(page, `${hash}, all paths`);
    await fits(page, `${hash}, all paths`);
    await all.click();
    assert.equal(await height(), low);
  }
  assert.deepEqual(faults, []);
  await context.close();
});

test("a wireless path has the rate of its standard", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const compared = page.getByRole("combobox", { name: "What is compared" });
  await compared.selectOption("rate");
  await page.getByRole("radio", { name: "wifi-g", exact: true }).check();
  assert.equal(await compared.inputValue(), "congestion");
  assert.equal(await compared.locator("option[value=rate]").count(), 0);
  await page.getByText("Change the path").click();
  assert.equal(await page.getByRole("slider", { name: "Rate" }).count(), 0);
  assert.equal(await page.getByRole("slider", { name: "Queue" }).count(), 1);
  await isReady(page);
  assert.deepEqual(faults, []);
  await context.close();
});

test("sliders keep the focus as they move, and a queue holds a packet at least", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const file = page.getByRole("textbox", { name: "The scenario file" });
  await page.getByRole("radio", { name: "transatlantic", exact: true }).check();
  await page.getByText("Change the path").click();
  await page.getByRole("slider", { name: "One-way delay" }).focus();
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("ArrowRight");
  assert.deepEqual(await page.evaluate(() => [document.activeElement.getAttribute("aria-label"), document.activeElement.value]), ["One-way delay", "3"]);
  assert.match(await file.inputValue(), /^delay = "0\.1\d* ms"$/m);
  assert.doesNotMatch(await file.inputValue(), /^queue/m);
  // 0.1 Mbit/s for 0.2 ms is less than a packet, of which the path's queue would be a multiple.
  await page.getByRole("slider", { name: "Rate" }).fill("1");
  assert.match(await file.inputValue(), /^queue = "1 packet" /m);
  await page.locator(".estimate").filter({ hasText: "30 cases" }).waitFor();
  assert.equal(await page.locator(".mistakes li").count(), 0);
  const queue = page.getByRole("combobox", { name: "What is compared" });
  await queue.selectOption("queue");
  assert.equal(await page.getByRole("checkbox", { name: "1 bdp" }).count(), 0);
  await page.getByRole("slider", { name: "Rate" }).fill("1000");
  await page.getByRole("checkbox", { name: "1 bdp" }).check();
  await page.locator(".estimate").filter({ hasText: "30 cases" }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test("the file stands beside the form where there is room, and below it where there is none", async () => {
  const { page, context, faults } = await open(browser, server, { viewport: { width: 1280, height: 900 } });
  await go(page, "/new");
  await page.waitForSelector(".outlook svg");
  const places = async () => Object.fromEntries(await Promise.all([["form", ".composer-form"], ["file", ".file"], ["start", ".begin"], ["outlook", ".outlook"]]
    .map(async ([name, selector]) => [name, await page.locator(selector).boundingBox()])));
  for (const width of [1200, 1280, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    const { form, file, start, outlook } = await places();
    assert.ok(file.x >= form.x + form.width && Math.abs(file.y - form.y) < 20 && file.width > 480, `${width}: ${JSON.stringify({ form, file })}`);
    assert.ok(start.y >= form.y + form.height && start.x === form.x, `${width}: start`);
    // Its picture is as wide as its letters need.
    assert.ok(outlook.width >= 790, `${width}: ${outlook.width}`);
    await fits(page, `${width}`);
  }
  await page.setViewportSize({ width: 1000, height: 900 });
  const { form, file } = await places();
  assert.ok(file.y >= form.y + form.height && Math.abs(file.x - form.x) < 2, JSON.stringify({ form, file }));
  // On the first page it is folded until one opens it.
  await page.setViewportSize({ width: 1280, height: 900 });
  await go(page, "/");
  await page.waitForSelector(".outlook svg");
  const folded = await places();
  assert.ok(folded.file.y > folded.form.y + folded.form.height);
  await page.getByText("The file", { exact: true }).click();
  const open_ = await places();
  assert.ok(open_.file.x >= open_.form.x + open_.form.width);
  await fits(page, "the first page with its file");
  assert.deepEqual(faults, []);
  await context.close();
});
