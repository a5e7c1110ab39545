// The report as a panel beside the code, in the real workbench.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { Editor, project, said, tester, until } from "./harness.mjs";

describe("the report's panel", { timeout: 400_000 }, () => {
  let editor, workbench, page, folder, panel;
  const test = tester(() => workbench);
  const at = (line) => page.locator("[id='status.editor.selection']", { hasText: `Ln ${line},` });

  before(async () => {
    folder = project("report", { "train_ddp.py": undefined });
    editor = await Editor.open("report");
    workbench = await editor.workbench(folder, { file: join(folder, "train_ddp.py"), size: { width: 1500, height: 900 } });
    page = workbench.page;
    await workbench.tab("train_ddp.py").waitFor({ timeout: 60_000 });
    await workbench.ready();
  }, { timeout: 200_000 });
  after(() => editor?.close());

  test("shows findings and lanes in the editor's theme", async () => {
    await workbench.command("stepzero: Show Report");
    panel = page.frameLocator("iframe.webview").frameLocator("#active-frame");
    await panel.locator("article.error").first().waitFor({ timeout: 60_000 });
    assert.equal(await panel.locator("html").getAttribute("data-theme"), "dark");
    assert.ok((await panel.locator(".row.hang").getAttribute("aria-label")).startsWith(said["train_ddp.py"].hang));
    await workbench.screenshot("report-panel");
  });

  test("a click on a bar selects its line", async () => {
    await panel.locator(".row.hang rect.bar").first().click();
    await at(97).waitFor();
    assert.equal(readFileSync(join(folder, "train_ddp.py"), "utf8").split("\n")[96].trim(), "dist.broadcast(torch.tensor([avg_loss], device=device), src=0)");
    await panel.locator("article.error button.place").nth(1).click();
    await at(91).waitFor();
  });

  test("the lane follows the cursor", async () => {
    await page.keyboard.press("Control+1");
    await workbench.goTo(163, 5);
    await panel.locator(".lanes.followed .row.chosen", { hasText: "DistributedDataParallel" }).waitFor();
    await workbench.screenshot("report-panel-followed");
  });

  test("the page is made anew from the text as it stands", async () => {
    await workbench.replace("import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n");
    await until("the new finding", async () => (await panel.locator("article.error > div code").first().textContent()) === "shape/matmul");
    assert.equal(await panel.locator(".lanes").count(), 0);
  });
});
