// `stepzero report` in a headless Chromium: both themes, keyboard, names for who does not see it, paper, no network, and a schedule
// of 8 ranks and 10,000 steps. build/editors/report has the pictures.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { program as hang, said } from "./said.mjs";

const source = fileURLToPath(new URL("../..", import.meta.url));
const build = process.env.STEPZERO_BUILD ?? join(source, "build");
const program = process.env.STEPZERO ?? join(build, "stepzero");
const output = join(build, "editors", "report");
const patience = Number(process.env.STEPZERO_TIME_SCALE ?? 1);

let browser, page;

before(async () => {
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, "train.py"), hang);
  execFileSync(program, ["report", "--world", "4", "train.py", "-o", "report.html"], { cwd: output });
  const { chromium } = createRequire(join(source, ".cache/vscode/package.json"))("playwright-core");
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(async () => browser?.close());

async function open(file = "report.html", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1240, height: 900 }, ...options });
  const tab = await context.newPage();
  tab.wrong = [];
  tab.asked = [];
  tab.on("pageerror", (error) => tab.wrong.push(error.message));
  tab.on("console", (message) => message.type() === "error" && tab.wrong.push(message.text()));
  tab.on("request", (request) => tab.asked.push(request.url()));
  await tab.goto(pathToFileURL(join(output, file)).href);
  return tab;
}

async function close(tab) {
  assert.deepEqual(tab.wrong, []);
  assert.deepEqual(tab.asked, [tab.url()], "it loads nothing but itself");
  await tab.context().close();
}

// How well a text is seen on what is behind it.
const contrast = (tab, selector) => tab.evaluate((wanted) => {
  const parse = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  return [...document.querySelectorAll(wanted)].map((element) => {
    let around = element, back = [0, 0, 0, 0];
    for (; around && (back[3] ?? 1) === 0; around = around.parentElement) back = parse(getComputedStyle(around).backgroundColor);
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(back)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  });
}, selector);

for (const scheme of ["light", "dark"])
  test(`in the ${scheme} theme all is readable`, async () => {
    const tab = await open("report.html", { colorScheme: scheme });
    assert.equal(await tab.locator("html").getAttribute("data-theme"), scheme);
    for (const selector of ["h1", "#summary", "article h3", ".badge", ".place", "pre.code", "pre.code .n", "pre.code mark", ".tree li", ".tree .type", ".hint"])
      for (const each of await contrast(tab, selector)) assert.ok(each >= 4.5, `${selector}: ${each}`);
    await tab.screenshot({ path: join(output, `report-${scheme}.png`), fullPage: true });
    await tab.locator("#communication").screenshot({ path: join(output, `lanes-${scheme}.png`) });
    await tab.locator("#models").screenshot({ path: join(output, `models-${scheme}.png`) });
    await close(tab);
  });

test("the switch of the theme holds against the system's", async () => {
  const tab = await open("report.html", { colorScheme: "dark" });
  await tab.getByLabel("Theme").selectOption("light");
  assert.equal(await tab.locator("html").getAttribute("data-theme"), "light");
  await tab.emulateMedia({ colorScheme: "light" });
  await tab.getByLabel("Theme").selectOption("dark");
  assert.equal(await tab.locator("html").getAttribute("data-theme"), "dark");
  await tab.getByLabel("Theme").selectOption("");
  assert.equal(await tab.locator("html").getAttribute("data-theme"), "light");
  await close(tab);
});

test("the page says what was found, where a rank waits and for whom", async () => {
  const tab = await open();
  assert.match(await tab.locator("#summary").textContent(), said.summary);
  assert.match(await tab.locator("article.error h3").first().textContent(), /^error/);
  assert.deepEqual(await tab.locator("article.error h3 code").allTextContents(), ["broadcast", "barrier"]);
  assert.doesNotMatch(await tab.locator("#finding-list").innerText(), /`/);
  assert.equal(await tab.locator("article.error pre.code mark").first().textContent(), "dist.broadcast(x, src=0)");
  const hanging = tab.locator(".row.hang");
  assert.equal(await hanging.count(), 1);
  assert.match(await hanging.getAttribute("aria-label"), said.hang);
  assert.equal(await tab.locator(".row line.send").count(), 3); // the chain of sends
  await hanging.hover();
  assert.match(await tab.locator(".details").textContent(), /rank 0 broadcast float32\[8, 64\] from rank 0 · train\.py:24 · in share, called at train\.py:29/);
  await close(tab);
});

test("all of it can be done with the keyboard", async () => {
  const tab = await open();
  await tab.keyboard.press("Tab");
  assert.equal(await tab.evaluate(() => document.activeElement.className), "skip");
  const reached = [];
  for (let i = 0; i < 25; ++i) {
    await tab.keyboard.press("Tab");
    reached.push(await tab.evaluate(() => document.activeElement.id || document.activeElement.className || document.activeElement.textContent));
  }
  for (const wanted of ["theme", "lanes"]) assert.ok(reached.includes(wanted), `${wanted} in ${reached}`);
  await tab.locator(".lanes").focus();
  const chosen = () => tab.evaluate(() => {
    const tree = document.activeElement;
    const row = document.getElementById(tree.getAttribute("aria-activedescendant"));
    return { label: row.getAttribute("aria-label"), expanded: row.getAttribute("aria-expanded"), selected: row.getAttribute("aria-selected"), level: row.getAttribute("aria-level") };
  });
  assert.match((await chosen()).label, said.loop);
  assert.equal((await chosen()).expanded, "false");
  await tab.keyboard.press("ArrowRight");
  assert.equal((await chosen()).expanded, "true");
  await tab.keyboard.press("ArrowDown");
  assert.match((await chosen()).label, said.step);
  assert.equal((await chosen()).level, "2");
  assert.match(await tab.locator(".details").textContent(), /all_reduce/);
  await tab.keyboard.press("ArrowLeft");
  assert.equal((await chosen()).expanded, "true");
  await tab.keyboard.press("ArrowLeft");
  assert.equal((await chosen()).expanded, "false");
  await tab.keyboard.press("End");
  assert.match((await chosen()).label, said.last);
  await close(tab);
});

test("everything that is drawn has a name", async () => {
  const tab = await open();
  const nameless = await tab.evaluate(() => [...document.querySelectorAll("[role=tree], [role=treeitem], [role=img], select, button, section, nav, ol.evidence")]
    .filter((each) => !(each.getAttribute("aria-label") || each.getAttribute("aria-labelledby") || each.labels?.length || each.textContent.trim())).map((each) => each.outerHTML.slice(0, 100)));
  assert.deepEqual(nameless, []);
  assert.match(await tab.locator("svg[role=img]").getAttribute("aria-label"), /Net\.forward/);
  await tab.getByText("The same as a list").click();
  assert.deepEqual((await tab.locator(".text-form li").allTextContents()).slice(0, 2), said.flow);
  const snapshot = await tab.locator("main").ariaSnapshot();
  assert.match(snapshot, /heading "Findings"/);
  assert.ok(snapshot.includes(`heading "Net train.py:6 · ${said.model}"`));
  assert.match(await tab.locator(".tree li").first().innerText(), said.layer);
  assert.match(snapshot, /tree "train\.py, as it runs, 4 ranks"/);
  await close(tab);
});

test("severities can be left out", async () => {
  const tab = await open();
  const button = tab.locator("#filters button", { hasText: "error" });
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  assert.equal(await tab.locator("article.error:visible").count(), 0);
  await button.click();
  assert.ok(await tab.locator("article.error:visible").count() > 0);
  await close(tab);
});

test("it prints, in light colors and with all rows", async () => {
  const tab = await open("report.html", { colorScheme: "dark" });
  const pdf = await tab.pdf({ format: "A4", path: join(output, "report.pdf") });
  assert.ok(pdf.length > 10_000);
  await tab.emulateMedia({ media: "print" });
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await tab.locator("html").getAttribute("data-theme"), "light");
  assert.equal(await tab.locator("#theme").isVisible(), false);
  assert.ok(await tab.locator(".row").count() >= 6);
  await tab.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await tab.locator("html").getAttribute("data-theme"), "dark");
  await close(tab);
});

test("8 ranks and 10,000 steps scroll smoothly", async () => {
  const html = readFileSync(join(output, "report.html"), "utf8");
  const [, text] = html.match(/id="data">(.*?)<\/script>/s);
  const data = JSON.parse(text);
  const ranks = [0, 1, 2, 3, 4, 5, 6, 7];
  const step = (i) => ({ kind: "step", calls: i % 3 === 0
    ? [{ ranks: [0], kind: "send", name: "send", line: i, peer: 1, tag: 0, group: ranks, shape: [i], dtype: "float32" }, { ranks: [1], kind: "receive", name: "recv", line: i, peer: 0, tag: 0, group: ranks, shape: [i], dtype: "float32" }]
    : [{ ranks, kind: "collective", name: "all_reduce", line: i, group: ranks, shape: [i, 8], dtype: "float32" }] });
  data.schedules = [{ path: "big.py", file: "/big.py", world: 8, functions: [], schedules: [{ function: null, complete: true, hangs: false, steps: Array.from({ length: 10_000 }, (_, i) => step(i + 1)) }] }];
  writeFileSync(join(output, "big.html"), html.replace(text, () => JSON.stringify(data).replaceAll("<", "\\u003c")));
  const began = performance.now();
  const tab = await open("big.html");
  await tab.locator(".lanes").focus();
  assert.ok(performance.now() - began < 10_000 * patience, "it opens at once");
  const frames = await tab.evaluate(async () => {
    const box = document.querySelector(".lanes");
    const times = [];
    let last = performance.now();
    for (let i = 0; i < 120; ++i) {
      box.scrollTop += 900;
      await new Promise((done) => requestAnimationFrame(done));
      times.push(performance.now() - last);
      last = performance.now();
    }
    return times.sort((a, b) => a - b);
  });
  assert.ok(frames[60] < 40 * patience, `a frame takes ${frames[60]} ms`);
  assert.ok(frames[114] < 150 * patience, `a slow frame takes ${frames[114]} ms`);
  assert.ok(await tab.locator(".row").count() < 100, "only what is in view is drawn");
  console.log(`frames of ${frames[60].toFixed(1)} ms in the middle, ${frames[114].toFixed(1)} ms at 95 %`);
  await tab.keyboard.press("End");
  assert.match(await tab.locator(".row.chosen").getAttribute("aria-label"), /line 10000/);
  await close(tab);
});
