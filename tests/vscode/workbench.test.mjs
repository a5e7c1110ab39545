// What a person does, in the real workbench: see, hover, fix, set, kill, open more.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Editor, mismatch, program, project, said, servers, tester, until } from "./harness.mjs";

describe("the workbench", { timeout: 500_000 }, () => {
  let editor;
  let workbench;
  let page;
  let folder;
  const test = tester(() => workbench);
  const ready = () => workbench.ready();
  const script = () => join(folder, "train_ddp.py");

  before(async () => {
    folder = project("one", { "train_ddp.py": undefined, "attention.py": undefined, "shapes.py": mismatch });
    editor = await Editor.open("workbench");
    workbench = await editor.workbench(folder, { file: script() });
    page = workbench.page;
  }, { timeout: 200_000 });
  after(() => editor?.close());

  test("underlines the deadlock and says in the status bar that it is ready", async () => {
    await workbench.tab("train_ddp.py").waitFor({ timeout: 60_000 });
    await workbench.goTo(97, 9);
    await workbench.squiggles().first().waitFor({ timeout: 60_000 });
    await ready();
    await workbench.screenshot("deadlock-dark");
  });

  test("tells in the hover what is wrong, without raw Markdown", async () => {
    const hover = await workbench.hover(workbench.line("dist.broadcast").locator("span", { hasText: "broadcast" }).last(), said["train_ddp.py"].message);
    const text = await hover.innerText();
    assert.ok(text.includes(said["train_ddp.py"].rule));
    assert.doesNotMatch(text, /\*\*|\\_|\]\(/); // backticks are the messages' own: VS Code shows a diagnostic as it is
    await workbench.screenshot("hover-dark");
    await page.keyboard.press("Escape");
  });

  test("offers the certain fix first, and the comments that silence last", async () => {
    await workbench.goTo(97, 14);
    const titles = await workbench.actions();
    await workbench.screenshot("actions-dark");
    await workbench.picture("deadlock", { x: 348, y: 226, width: 852, height: 316 });
    assert.equal(titles[0], said["train_ddp.py"].fix);
    assert.equal(titles.at(-1), said["train_ddp.py"].ignores.at(-1));
    await page.keyboard.press("Escape");
    await page.locator(".action-widget").waitFor({ state: "hidden" });
  });

  test("applies the fix in one step that one undo takes back", async () => {
    const text = readFileSync(script(), "utf8");
    const copy = join(project("fixed", { "train_ddp.py": undefined }), "train_ddp.py");
    execFileSync(program, ["check", "--fix", copy]);
    const fixed = readFileSync(copy, "utf8");

    await workbench.actions(said["train_ddp.py"].fix);
    await workbench.squiggles().first().waitFor({ state: "detached" });
    await page.keyboard.press("Control+S");
    await until("fixed file", () => readFileSync(script(), "utf8") === fixed);
    await workbench.screenshot("fixed-dark");
    await page.keyboard.press("Control+Z");
    await page.keyboard.press("Control+S");
    await until("file as it was", () => readFileSync(script(), "utf8") === text);
    await workbench.squiggles().first().waitFor();
  });

  test("shows shapes behind the names", async () => {
    await workbench.open("attention.py");
    await until("hint", async () => (await page.locator(".view-lines").first().innerText()).replace(/\u00a0/g, " ").includes(said["attention.py"].first_hint));
    await workbench.screenshot("shapes-dark");
    await workbench.picture("shapes", { x: 348, y: 56, width: 852, height: 352 });
  });

  test("shows the communication schedule beside the code", async () => {
    await workbench.open("train_ddp.py");
    await workbench.command("stepzero: Show Communication Schedule");
    await page.locator(".tab", { hasText: "Schedule of train_ddp.py" }).waitFor();
    await until("schedule", async () => /broadcast/.test(await page.locator(".editor-group-container").nth(1).innerText().then((text) => text.replace(/\u00a0/g, " "))));
    await page.locator(".editor-group-container").nth(1).locator(".view-line .detected-link", { hasText: "97" }).first().waitFor();
    await workbench.screenshot("schedule-dark");
    const collapse = page.locator(".editor-group-container").nth(1).locator(".margin .codicon-folding-expanded");
    // FIXME: the answer has three places to fold (the part, the loop, what is never reached); VS Code shows no control for any of them here.
    assert.equal(await collapse.count(), 0);
    await workbench.command("View: Close All Editors");
  });

  test("explains a rule on a page of its own", async () => {
    await workbench.open("train_ddp.py");
    await workbench.goTo(97, 14);
    await workbench.command("stepzero: Explain Rule");
    await page.locator(".tab", { hasText: "rank-guarded-collective.md" }).waitFor();
    const body = page.frameLocator("iframe.webview.ready").last().frameLocator("#active-frame").locator("body");
    await until("rendered page", async () => /Why/.test(await body.innerText()), 30);
    await workbench.screenshot("explain-dark");
    await workbench.command("View: Close All Editors");
  });

  test("obeys a changed setting without a restart", async () => {
    mkdirSync(join(folder, ".vscode"));
    writeFileSync(join(folder, ".vscode", "settings.json"), "{}");
    await workbench.open("shapes.py");
    await workbench.squiggles().first().waitFor();
    const set = async (settings) => {
      await workbench.command("Preferences: Open Workspace Settings (JSON)");
      await workbench.tab("settings.json").waitFor();
      await until("saved settings", async () => {
        await workbench.replace(JSON.stringify(settings));
        await page.keyboard.press("Control+S");
        await sleep(300);
        return readFileSync(join(folder, ".vscode", "settings.json"), "utf8") === JSON.stringify(settings);
      });
    };
    await set({ "stepzero.severity": { shape: "off" }, "stepzero.inlayHints": "off" });
    await workbench.open("shapes.py");
    await workbench.squiggles().first().waitFor({ state: "detached" });
    await until("no hints", async () => !(await page.locator(".view-lines").first().innerText()).includes("tensor["));
    await set({ "stepzero.severity": { shape: "warning" } });
    await workbench.open("shapes.py");
    await workbench.squiggles("warning").first().waitFor();
    await set({});
    await workbench.open("shapes.py");
    await workbench.squiggles().first().waitFor();
  });

  test("paints what a key brings about at once", async () => {
    await workbench.open("shapes.py");
    // 784 → 7884 and back, against a matrix of 784: each key changes whether there is a problem.
    await workbench.replace(mismatch.replace("512, 10", "784, 10"));
    await workbench.goTo(3, 25);
    await workbench.squiggles().first().waitFor({ state: "detached" });
    const times = [];
    for (let round = 0; round < 12; ++round) {
      const appears = round % 2 === 0;
      await page.evaluate((appears) => {
        const state = (window.measured = { pressed: 0, painted: 0 });
        const pressed = () => (state.pressed ||= performance.now());
        window.addEventListener("keydown", pressed, { capture: true, once: true });
        const look = () => {
          const there = document.querySelector(".squiggly-error") !== null;
          if (state.pressed && there === appears) requestAnimationFrame(() => (state.painted = performance.now()));
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }, appears);
      await page.keyboard.press(appears ? "8" : "Backspace");
      const { pressed, painted } = await until("painted change", () => page.evaluate(() => window.measured.painted && window.measured));
      times.push(painted - pressed);
    }
    times.sort((a, b) => a - b);
    console.log(`\nlatency: VS Code, key to painted squiggle: median ${times[6].toFixed(0)} ms, worst ${times.at(-1).toFixed(0)} ms of ${times.length}`);
    assert.ok(times[6] < 3000, `a median of ${times[6]} ms`); // on a machine that does other things as well
    await page.keyboard.press("Control+S");
  });

  test("starts the server again when it is killed, and says what to do when it will not stay", async () => {
    await workbench.open("shapes.py");
    const [first] = servers(editor);
    assert.ok(first);
    process.kill(first, "SIGKILL");
    const second = await until("new server", () => servers(editor).find((pid) => pid !== first));
    await workbench.replace(mismatch);
    await workbench.squiggles().first().waitFor();
    assert.deepEqual(servers(editor), [second]);

    let last = second;
    for (const _ of [2, 3]) {
      process.kill(last, "SIGKILL");
      last = await until("new server", () => servers(editor).find((pid) => pid !== last), 30);
      await ready();
    }
    process.kill(last, "SIGKILL");
    const message = page.locator(".notifications-toasts .notification-toast", { hasText: "ended four times" });
    await message.waitFor();
    await workbench.screenshot("failed-dark");
    assert.equal(await page.locator(".notifications-toasts .notification-toast", { hasText: "Request textDocument" }).count(), 0);
    await message.locator("a.monaco-button", { hasText: "Restart" }).click();
    await until("server again", () => servers(editor).length === 1);
    await ready();
  });

  test("ends its server when the window is closed", async () => {
    await page.keyboard.press("Control+S");
    await workbench.close();
    await editor.close();
    await until("no server", () => servers(editor).length === 0, 30);
  });
});
