// VS Code's server part on this machine and its workbench in a headless Chromium. Each Editor has a home of its own below
// the build folder; nothing outlives close().
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, createWriteStream, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { test } from "node:test";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const source = fileURLToPath(new URL("../..", import.meta.url));
export const build = process.env.STEPZERO_BUILD ?? join(source, "build");
const installed = join(source, ".cache/vscode");
export const output = join(build, "editors", "vscode");

export const program = process.env.STEPZERO ?? join(build, "stepzero");

// A program with one error, a product that does not fit.
// What the program says of the examples, which tests/conformance holds it against without an editor.
export const said = JSON.parse(readFileSync(join(source, "tests/vscode/said.json"), "utf8"));
export const mismatch = "import torch\n\nbatch = torch.zeros(32, 784)\nweights = torch.zeros(512, 10)\nlogits = batch @ weights\n";

// A fresh folder with these files; what has no text is the example of that name.
export function project(name, files) {
  const folder = join(output, "projects", name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    if (text === undefined) cpSync(join(source, "examples", path), join(folder, path));
    else writeFileSync(join(folder, path), text);
  }
  return folder;
}

// Processes that run the program inside this editor's extension.
export function servers(editor) {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readlinkSync(`/proc/${pid}/exe`).startsWith(join(editor.home, "extensions"));
    } catch {
      return false; // it is gone, or not ours
    }
  }).map(Number);
}

// Tests that leave a picture of what the workbench showed when they failed.
export function tester(workbench) {
  return (name, body) =>
    test(name, { timeout: 120_000 }, async () => {
      try {
        await body();
      } catch (error) {
        await workbench()?.screenshot(`FAILED ${name}`).catch(() => undefined);
        throw error;
      }
    });
}

const settings = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.colorTheme": "Default Dark Modern",
  "window.commandCenter": false,
  "workbench.layoutControl.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "editor.minimap.enabled": false,
  "editor.inlayHints.enabled": "on",
  "editor.hover.delay": 200,
  "files.autoSave": "off",
  "telemetry.telemetryLevel": "off",
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "chat.commandCenter.enabled": false,
};

// Waits until `what` gives something true; what it threw last is said when it never does.
export async function until(name, what, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  let problem;
  for (;;) {
    try {
      const found = await what();
      if (found) return found;
      problem = undefined;
    } catch (error) {
      problem = error;
    }
    if (Date.now() > end) throw new Error(`no ${name} within ${seconds} s${problem ? `: ${problem.message}` : ""}`);
    await sleep(50);
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export class Editor {
  // options: settings, trust (ask for trust as VS Code does), environment
  static async open(name, options = {}) {
    const editor = new Editor(name);
    try {
      await editor.start(options);
    } catch (error) {
      await editor.close();
      throw error;
    }
    return editor;
  }

  constructor(name) {
    this.name = name;
    this.home = join(output, name);
    this.pages = 0;
  }

  async start({ settings: more = {}, trust = false, environment = {} }) {
    rmSync(this.home, { recursive: true, force: true });
    const user = join(this.home, "user", "User");
    mkdirSync(user, { recursive: true });
    writeFileSync(join(user, "settings.json"), JSON.stringify({ ...settings, ...more }, null, 2));
    writeFileSync(join(this.home, "config.yaml"), "auth: none\ncert: false\n");
    const own = Object.fromEntries(
      ["CONFIG", "DATA", "STATE", "CACHE"].map((kind) => [`XDG_${kind}_HOME`, join(this.home, kind.toLowerCase())]));
    this.environment = { ...process.env, ...own, HOME: this.home, EXTENSIONS_GALLERY: '{"serviceUrl":""}', ...environment };
    for (const name of Object.keys(this.environment)) if (name.startsWith("VSCODE_")) delete this.environment[name];
    this.arguments = [
      join(installed, "node_modules/code-server/out/node/entry.js"),
      "--config", join(this.home, "config.yaml"), "--user-data-dir", join(this.home, "user"),
      "--extensions-dir", join(this.home, "extensions"),
    ];
    await this.run("--install-extension", process.env.STEPZERO_VSIX ?? join(build, "stepzero.vsix"));

    this.port = await freePort();
    // It ends with this process, also where that is killed for being late.
    this.server = spawn("setpriv", ["--pdeathsig", "TERM", process.execPath, ...this.arguments, "--auth", "none", "--bind-addr", `127.0.0.1:${this.port}`,
      "--disable-telemetry", "--disable-update-check", "--disable-getting-started-override",
      ...(trust ? [] : ["--disable-workspace-trust"])],
      { env: this.environment, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const log = createWriteStream(join(this.home, "code-server.log"));
    this.server.stdout.pipe(log);
    this.server.stderr.pipe(log);
    await until("code-server", async () => (await fetch(`http://127.0.0.1:${this.port}/healthz`)).ok, 60);

    const { chromium } = createRequire(join(installed, "package.json"))("playwright-core");
    this.browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
    });
  }

  run(...words) {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [...this.arguments, ...words], { env: this.environment, stdio: ["ignore", "pipe", "pipe"] });
      let said = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
      child.on("error", reject);
      child.on("exit", (status) => (status === 0 ? resolve(said) : reject(new Error(said))));
    });
  }

  // A workbench on a folder or a .code-workspace file.
  async workbench(target, { file, payload = {}, size = { width: 1200, height: 760 } } = {}) {
    const context = await this.browser.newContext({ viewport: size });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const remote = (path) => `vscode-remote://127.0.0.1:${this.port}${encodeURI(path)}`;
    const said = [...(file ? [["openFile", remote(file)]] : []), ...Object.entries(payload).map(([key, path]) => [key, remote(path)])];
    const kind = target.endsWith(".code-workspace") ? "workspace" : "folder";
    const query = new URLSearchParams({ [kind]: target, payload: JSON.stringify(said) });
    await page.goto(`http://127.0.0.1:${this.port}/?${query}`, { waitUntil: "commit", timeout: 90_000 });
    await page.waitForSelector(".monaco-workbench", { timeout: 90_000 });
    return new Workbench(this, page, context);
  }

  async close() {
    await this.browser?.close().catch(() => undefined);
    if (this.server?.pid) {
      try {
        process.kill(-this.server.pid, "SIGKILL");
      } catch {} // it is gone
    }
  }
}

export class Workbench {
  constructor(editor, page, context) {
    Object.assign(this, { editor, page, context });
  }

  async close() {
    await this.context.close();
  }

  // The widget that the pointer over `target` brings up. Whatever is drawn anew under the pointer takes it away: then the pointer comes again.
  async hover(target, text) {
    const widget = this.page.locator(".monaco-hover:visible").filter({ hasText: text });
    await until(`hover with "${text}"`, async () => {
      await this.page.mouse.move(0, 0);
      await target.hover({ timeout: 3_000 });
      return widget.waitFor({ timeout: 3_000 }).then(() => true, () => false);
    });
    return widget;
  }

  async screenshot(name) {
    const path = join(output, "screenshots", `${name}.png`);
    mkdirSync(dirname(path), { recursive: true });
    await sleep(300); // what fades in is there
    await this.page.screenshot({ path });
    return path;
  }

  // A part of the screen for README.md: `make pictures` takes them from here.
  async picture(name, clip) {
    const path = join(output, "pictures", `${name}.png`);
    mkdirSync(dirname(path), { recursive: true });
    await this.page.screenshot({ path, clip });
  }

  // Presses `key`, types `text` into the input that comes up, waits for `row` of its list, accepts it and waits until
  // `done` is there. An editor or a page that is still coming up may take the focus in any of these moments: then the
  // input is gone, or it stays and does not hear Enter, and it is asked for again.
  async pick(key, text, row, done) {
    const input = this.page.locator(".quick-input-widget input");
    const soon = { timeout: 5000 };
    for (let attempts = 1; ; ++attempts) {
      await this.page.keyboard.press(key);
      try {
        await input.fill(text, soon);
        await row.first().waitFor(soon);
        const focused = await input.evaluate((it) => (it.focus(), document.activeElement === it));
        if (!focused) throw new Error(`the input for ${text} is not there any more`);
        await this.page.keyboard.press("Enter");
        await input.waitFor({ state: "hidden", ...soon });
        await done?.waitFor(soon);
        return;
      } catch (error) {
        if (attempts === 5) throw error;
        if (await input.isVisible()) await input.press("Escape", soon).catch(() => undefined); // it may just have gone
      }
    }
  }

  rows(text, focused = "") {
    return this.page.locator(`.quick-input-list .monaco-list-row${focused}`, { hasText: text });
  }

  // A command of the palette, by its whole title.
  async command(title) {
    await this.pick("F1", `>${title}`, this.rows(title));
  }

  // Opens a file of the workspace and waits until it is the active editor.
  async open(path) {
    const name = path.split("/").pop();
    await this.page.keyboard.press("Escape");
    await this.page.keyboard.press("Control+1");
    await this.pick("Control+P", path, this.rows(name, ".focused"), this.tab(name));
  }

  // The tab in front, if it has this name.
  tab(name) {
    return this.page.locator(`.editor-group-container.active .tab.active[data-resource-name="${name}"]`);
  }

  async goTo(line, column = 1) {
    const there = this.page.locator("[id='status.editor.selection']", { hasText: `Ln ${line}, Col ${column}` });
    await this.pick("Control+G", `:${line}:${column}`, this.rows(`Go to line ${line} and character ${column}`), there);
  }

  // The whole text of the active editor becomes this, as by a paste: nothing completes or indents it.
  async replace(text) {
    await this.page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
    await this.page.evaluate((said) => navigator.clipboard.writeText(said), text);
    await this.page.keyboard.press("Control+A");
    await this.page.keyboard.press("Control+V");
  }

  // Until the item in the status bar says that everything is analyzed.
  ready() {
    return this.page.locator("[id='stepzero.stepzero.stepzero.status'] .codicon-check").waitFor({ timeout: 30_000 });
  }

  squiggles(kind = "error") {
    return this.page.locator(`.squiggly-${kind}`);
  }

  // A line of the visible editor that contains the text; no-break spaces count as spaces.
  line(text) {
    return this.page.locator(".view-line", { hasText: text }).first();
  }

  async actions(title) {
    // A menu that is still closing swallows the keys, and one that opens has its rows a moment later, or closes again because the cursor was
    // still on its way: the keys are pressed again until there are rows.
    const rows = this.page.locator(".action-widget .monaco-list-row.action .title");
    let titles = [];
    await until("menu of actions", async () => {
      await this.page.keyboard.press("Control+.");
      await rows.first().waitFor({ timeout: 3000 });
      titles = await rows.allTextContents();
      return titles.length > 0;
    });
    if (!title) return titles;
    // The first row has the focus; the pointer does not reach the menu.
    assert.ok(titles.includes(title), `no "${title}" among ${titles.join(", ")}`);
    const focus = this.page.locator(".action-widget .monaco-list-row.focused");
    let focused = await focus.getAttribute("aria-label");
    while (focused !== title) {
      const last = focused;
      await this.page.keyboard.press("ArrowDown");
      await until(`action behind "${last}"`, async () => (focused = await focus.getAttribute("aria-label")) !== last, 5);
    }
    await this.page.keyboard.press("Enter");
    await this.page.locator(".action-widget").waitFor({ state: "hidden" });
    return titles;
  }
}
