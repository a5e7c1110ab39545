// Several folders, notebooks, folders that are not trusted; in a light theme.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe } from "node:test";
import { Editor, mismatch, program, project, tester, until } from "./harness.mjs";

describe("two folders and a notebook", { timeout: 500_000 }, () => {
  let editor;
  let workbench;
  let page;
  const test = tester(() => workbench);

  before(async () => {
    editor = await Editor.open("places", { settings: { "workbench.colorTheme": "Default Light Modern" } });
  }, { timeout: 200_000 });
  after(() => editor?.close());

  test("each folder has settings of its own, and the list of problems has both", async () => {
    const first = project("first", { "one.py": mismatch });
    const second = project("second", { "two.py": mismatch, "stepzero.toml": '[severity]\nshape = "warning"\n' });
    const both = join(dirname(first), "both.code-workspace");
    writeFileSync(both, JSON.stringify({ folders: [{ path: first }, { path: second }] }));
    workbench = await editor.workbench(both, { file: join(first, "one.py") });
    page = workbench.page;
    await workbench.tab("one.py").waitFor({ timeout: 60_000 });
    await workbench.squiggles().first().waitFor({ timeout: 60_000 });
    await workbench.open("two.py");
    await workbench.squiggles("warning").first().waitFor();
    await workbench.command("Problems: Focus on Problems View");
    const problems = page.locator(".markers-panel");
    await problems.locator(".monaco-list-row", { hasText: "one.py" }).first().waitFor();
    await problems.locator(".monaco-list-row", { hasText: "two.py" }).first().waitFor();
    await workbench.screenshot("problems-light");
    await workbench.close();
  });

  test("the cells of a notebook are one program, with its problems, hints and fixes in the cells", async () => {
    const code = (...lines) => ({ cell_type: "code", execution_count: null, metadata: {}, outputs: [], source: lines.map((line, i) => (i + 1 < lines.length ? `${line}\n` : line)) });
    const notebook = {
      cells: [
        code("%matplotlib inline", "import torch", "from torch import nn"),
        { cell_type: "markdown", metadata: {}, source: ["A layer, and what goes into it."] },
        code("layer = nn.Linear(784, 10)"),
        code("x = torch.zeros(32, 400)", "y = layer(x)"),
      ],
      metadata: { language_info: { name: "python" } },
      nbformat: 4,
      nbformat_minor: 5,
    };
    const folder = project("notebook", { "shapes.ipynb": JSON.stringify(notebook, null, 1) });
    const file = join(folder, "shapes.ipynb");
    workbench = await editor.workbench(folder);
    page = workbench.page;
    // Until the extension that knows notebooks is registered, the file opens as a text.
    const row = page.locator(".explorer-folders-view .monaco-list-row", { hasText: "shapes.ipynb" });
    await row.waitFor({ timeout: 60_000 });
    await until("notebook", async () => {
      await row.dblclick();
      const cells = page.locator(".notebookOverlay .cell-list-container").first();
      if (await cells.waitFor({ timeout: 3000 }).then(() => true, () => false)) return true;
      await workbench.command("View: Close All Editors");
      return false;
    }, 90);
    const cell = page.locator(".monaco-list-row.code-cell-row", { hasText: "torch.zeros(32, 400)" });
    await cell.locator(".squiggly-error").first().waitFor({ timeout: 60_000 });
    assert.equal(await page.locator(".squiggly-error").count(), 1);
    await until("hint", async () => (await cell.innerText()).replace(/\u00a0/g, " ").includes(": float32[32, 400]"));
    await workbench.screenshot("notebook-light");

    // The fix of this cell changes the cell above.
    await cell.locator(".view-line", { hasText: "layer(x)" }).locator("span", { hasText: "layer" }).last().click();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await workbench.actions("Set in_features to 400");
    await cell.locator(".squiggly-error").first().waitFor({ state: "detached" });
    await page.keyboard.press("Control+S");
    await until("fixed notebook", () => JSON.parse(readFileSync(file, "utf8")).cells[2].source.join("").includes("nn.Linear(400, 10)"));

    // An edit of one cell shows in another.
    await page.locator(".monaco-list-row.code-cell-row .view-line", { hasText: "nn.Linear" }).click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("layer = nn.Linear(300, 10)");
    await cell.locator(".squiggly-error").first().waitFor();
    await workbench.close();
  });
});

describe("a folder that is not trusted", { timeout: 400_000 }, () => {
  let editor;
  let workbench;
  const test = tester(() => workbench);

  before(async () => {
    editor = await Editor.open("trust", {
      trust: true,
      settings: { "security.workspace.trust.startupPrompt": "never", "security.workspace.trust.banner": "never" },
    });
  }, { timeout: 200_000 });
  after(() => editor?.close());

  test("names no program that is run, until it is trusted", async () => {
    const folder = project("untrusted", { "shapes.py": mismatch });
    const mark = join(folder, "was-run");
    const own = join(folder, "own-stepzero");
    writeFileSync(own, `#!/bin/sh\ntouch '${mark}'\nexec '${program}' "$@"\n`);
    chmodSync(own, 0o755);
    project("untrusted/.vscode", { "settings.json": JSON.stringify({ "stepzero.server.path": own }) });
    workbench = await editor.workbench(folder, { file: join(folder, "shapes.py") });
    await workbench.squiggles().first().waitFor({ timeout: 60_000 });
    await workbench.ready();
    assert.ok(!existsSync(mark), "the program that the folder names was run");

    await workbench.command("Workspaces: Manage Workspace Trust");
    await workbench.page.locator(".workspace-trust-editor a.monaco-button", { hasText: "Trust" }).first().click();
    await until("the folder's own program", () => existsSync(mark));
    await workbench.open("shapes.py");
    await workbench.squiggles().first().waitFor();
  });
});
