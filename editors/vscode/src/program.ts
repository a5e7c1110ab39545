// Which `stepzero` runs: the one that the settings name, or the one inside the extension. Starts nothing that lives on.
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

export function findProgram(context: vscode.ExtensionContext): Program {
  // VS Code itself leaves out what an untrusted workspace says here (restrictedConfigurations in package.json); a path
  // relative to the workspace is refused all the same until it is trusted.
  const wanted = vscode.workspace.getConfiguration("stepzero").get<string>("server.path", "").trim();
  if (wanted === "") {
    const own = context.asAbsolutePath(path.join("server", "bin", "stepzero"));
    const problem = problemOf(own);
    return {
      path: own,
      problem: problem && "This package has no program for your machine. Build stepzero and set stepzero.server.path.",
    };
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
  return new Promise((resolve, reject) => {
    execFile(program.path, words, { timeout: 20_000, maxBuffer: 16 << 20 }, (error, output, messages) => {
      if (error) reject(new Error(messages.trim() || error.message));
      else resolve(output);
    });
  });
}
