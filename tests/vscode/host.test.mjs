// The tests of host/ inside the real extension host.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Editor, output, program, project, source, until } from "./harness.mjs";

test("the extension answers through VS Code's own interface", { timeout: 400_000 }, async (context) => {
  const report = join(output, "host-report.json");
  rmSync(report, { force: true });
  const folder = project("host", { "train_ddp.py": undefined, "attention.py": undefined, "fixed.py": "", "saved.py": "" });
  const editor = await Editor.open("host", { environment: { STEPZERO_HOST_REPORT: report, STEPZERO_PROGRAM: program, STEPZERO_SOURCE: source } });
  try {
    const [extension] = (await import("node:fs")).readdirSync(join(editor.home, "extensions")).filter((name) => name.startsWith("stepzero."));
    await editor.workbench(folder, {
      payload: {
        extensionDevelopmentPath: join(editor.home, "extensions", extension),
        extensionTestsPath: join(source, "tests/vscode/host/index.js"),
      },
    });
    await until("report of the extension host", () => existsSync(report), 300);
  } finally {
    await editor.close();
  }
  for (const { name, error } of JSON.parse(readFileSync(report, "utf8"))) {
    await context.test(name, () => assert.ok(!error, error));
  }
});
