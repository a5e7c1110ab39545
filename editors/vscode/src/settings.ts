// The settings as the server reads them: only what somebody has set, so that what the editor has as a default does not
// overrule the project's own stepzero.toml.
import * as vscode from "vscode";

const keys = ["select", "ignore", "exclude", "severity", "minSeverity", "inlayHints", "gpuMemory", "libraryFolders"];

function isSet(settings: vscode.WorkspaceConfiguration, key: string): boolean {
  const found = settings.inspect(key);
  return [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].some((value) => value !== undefined);
}

export function settingsFor(scope: vscode.Uri | undefined): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration("stepzero", scope ?? null);
  const said: Record<string, unknown> = {};
  for (const key of keys) {
    if (isSet(settings, key)) said[key] = settings.get(key);
  }
  if (settings.get("performanceHints") === false) {
    const severity = (said.severity ?? {}) as Record<string, string>;
    said.severity = { ...severity, perf: severity.perf ?? "off" };
  }
  return said;
}
