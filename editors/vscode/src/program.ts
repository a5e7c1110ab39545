// Which `stepzero` runs: the one that the settings name, the one inside the extension, or the one that `pip install` put into an
// environment of the workspace or on the PATH. Starts nothing that lives on.
import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

export interface Program {
  path: string;
  // What stands in the way of running it, for the user; empty if nothing does.
  problem: string;
}

function problemOf(file: string): string {
  try {
    if (!statSync(file).isFile()) return "is not a file";
    accessSync(file, constants.X_OK);
    return "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "may not be executed" : "does not exist";
  }
}

// Where `pip install stepzero` puts it. Programs inside a workspace are taken only where it is trusted.
function installed(): string[] {
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath) : [];
  const environments = [process.env.VIRTUAL_ENV, process.env.CONDA_PREFIX].filter((folder) => folder !== undefined);
  const places = [
    ...folders.flatMap((folder) => [path.join(folder, ".venv"), path.join(folder, "venv")]),
    ...environments,
  ].map((environment) => path.join(environment, "bin"));
  const search = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return [...places, ...search].map((folder) => path.join(folder, "stepzero"));
}

export function findProgram(context: vscode.ExtensionContext): Program {
  // VS Code itself leaves out what an untrusted workspace says here (restrictedConfigurations in package.json); a path
  // relative to the workspace is refused all the same until it is trusted.
  const wanted = vscode.workspace.getConfiguration("stepzero").get<string>("server.path", "").trim();
  if (wanted === "") {
    const own = context.asAbsolutePath(path.join("server", "bin", "stepzero"));
    const program = [own, ...installed()].find((file) => problemOf(file) === "");
    if (program) return { path: program, problem: "" };
    return { path: own, problem: "This package has no program for your machine. Run `pip install stepzero`, or set stepzero.server.path." };
  }
  let file = wanted.startsWith("~/") ? path.join(homedir(), wanted.slice(2)) : wanted;
  if (!path.isAbsolute(file)) {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    if (!folder || !vscode.workspace.isTrusted) {
      return { path: file, problem: `stepzero.server.path has to be an absolute path here: ${wanted}` };
    }
    file = path.join(folder, file);
  }
  const problem = problemOf(file);
  return { path: file, problem: problem && `stepzero.server.path: ${file} ${problem}.` };
}

// Standard output of one command.
export function run(program: Program, ...words: string[]): Promise<string> {
  return runOn("", undefined, program, ...words);
}

// … that reads `input`, in `folder`.
export function runOn(input: string, folder: string | undefined, program: Program, ...words: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program.path, words, { cwd: folder, timeout: 20_000, maxBuffer: 64 << 20 }, (error, output, messages) => {
      if (error) reject(new Error(messages.trim() || error.message));
      else resolve(output);
    });
    child.stdin?.on("error", () => undefined); // it ended without reading
    child.stdin?.end(input);
  });
}
