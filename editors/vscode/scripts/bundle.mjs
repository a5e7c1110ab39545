#!/usr/bin/env node
// One file of the extension and all that it needs: node scripts/bundle.mjs OUTPUT
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  entryPoints: [here("../src/extension.ts")],
  outfile: process.argv[2] ?? here("../dist/extension.js"),
  bundle: true,
  minify: true,
  platform: "node",
  target: "node18",
  format: "cjs",
  external: ["vscode"],
  legalComments: "none",
  logLevel: "warning",
});
