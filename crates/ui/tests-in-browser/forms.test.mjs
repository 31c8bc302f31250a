// What forms say is what runs.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { go, launch, open, serve } from "./place.mjs";

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.forget();
});

const isReady = (page) => page.waitForSelector(".begin .primary:not([disabled])");

test("every comparison, in both directions, is an experiment without mistakes", async () => {
  const { page, context, faults } = await open(browser, server);
  await go(page, "/new");
  await isReady(page);
  const compared = page.getByRole("combobox", { name: "What is compared" });
  const factors = await compared.locator("option").evaluateAll((options) => options.map((it) => it.value));
  assert.deepEqual(factors, ["congestion", "queue", "buffer", "loss", "stack"]);
  const ends = { download: ["server", "client"], upload: ["client", "server"] };
  for (const [direction, [sender, receiver]] of Object.entries(ends)) {
    for (const factor of factors) {
      await page.getByRole("combobox", { name: "Direction" }).selectOption(direction);
      await compared.selectOption(factor);
      const toml = await page.getByRole("textbox", { name: "The scenario file" }).inputValue();
      assert.match(toml, new RegExp(`^${direction} = `, "m"));
      const checked = await page.evaluate(async (text) => {
        const { post } = await import("/api.js");
        return post("/api/check", { toml: text, name: "x" });
      }, toml);
      assert.deepEqual(checked.mistakes, [], `${factor}, ${direction}: ${toml}`);
      const key = { congestion: `${sender}.socket.congestion`, buffer: `${receiver}.socket.rcvbuf`, stack: `${sender}.stack` }[factor];
      if (key) assert.ok(toml.includes(`\n"${key}" = [`), `${factor}, ${direction}: ${toml}`);
    }
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
