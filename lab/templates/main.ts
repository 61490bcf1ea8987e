/**
 * `npm run lab -- templates` runs each template of `colloquy init` as a user does: it installs the packed package, creates a
 * project in an empty folder, installs its packages, checks its types, and starts it. In Chromium, it sends a message,
 * reloads the page during the answer, and compares the answer.
 *
 *     npm run lab -- templates                         # all templates
 *     npm run lab -- templates hono adk             # some templates
 *     npm run lab -- templates complete-app         # the app of docs/complete-app.md
 *     npm run lab -- templates --tarball FILE hono  # an existing package
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { TEMPLATE_NAMES } from "../../src/cli/init/template-files.ts";
import { findChromium, CHROMIUM_MISSING_MESSAGE } from "../../src/cards/html/browser.fixture.ts";
import { runProgram } from "../support/run-program.ts";
import { parseCodeBlocks } from "../../test/documents/code-blocks.ts";
import { runAdkTemplate, runCompleteApp, runPageTemplate } from "./run-template.ts";

const { values, positionals } = parseArgs({
  options: { tarball: { type: "string" } },
  allowPositionals: true,
});
const COMPLETE_APP = "complete-app";
const names = [...TEMPLATE_NAMES, COMPLETE_APP] as const;
const unknown = positionals.filter((name) => !names.some((template) => template === name));
if (unknown.length > 0) {
  console.error(`There is no template ${unknown.join(", ")}. Use ${names.join(", ")}.`);
  process.exit(2);
}
if (findChromium() === undefined) throw new Error(CHROMIUM_MISSING_MESSAGE);

const workFolder = mkdtempSync(join(tmpdir(), "colloquy-templates-"));
const tarball = values.tarball ?? packPackage();
runCommand("npm", ["init", "--yes"], workFolder);
runCommand("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", tarball], workFolder);

const failed: string[] = [];
for (const template of names) {
  if (positionals.length > 0 && !positionals.includes(template)) continue;
  const startedAt = Date.now();
  try {
    const folder = join(workFolder, `my-${template}`);
    const base = template === COMPLETE_APP ? "vite-react" : template;
    runCommand("npx", ["colloquy", "init", folder, "--template", base], workFolder);
    if (template === COMPLETE_APP) applyCompleteApp(folder);
    runCommand("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], folder);
    runCommand("npm", ["run", "check"], folder);
    if (template === "workers") runCommand("npm", ["run", "deploy", "--", "--dry-run"], folder);
    await (template === "adk"
      ? runAdkTemplate(folder)
      : template === COMPLETE_APP
        ? runCompleteApp(folder)
        : runPageTemplate(template, folder));
    console.log(`${template}: works (${Math.round((Date.now() - startedAt) / 1000)} s)`);
  } catch (error) {
    failed.push(template);
    console.error(`${template}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
process.exitCode = failed.length === 0 ? 0 : 1;
if (failed.length === 0) rmSync(workFolder, { recursive: true, force: true });
else console.error(`The projects remain in ${workFolder}.`);
// A failed template may have left a process.
process.exit();

/** Writes the files of the page, and installs the packages that the page names. */
function applyCompleteApp(folder: string): void {
  const blocks = parseCodeBlocks("docs/complete-app.md");
  for (const { file, code } of blocks) if (file !== undefined) writeFileSync(join(folder, file), code);
  const [, packages = ""] = /^npm install (.+)$/m.exec(blocks.map(({ code }) => code).join("\n")) ?? [];
  runCommand(
    "npm",
    ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages.split(" ")],
    folder,
  );
}

function packPackage(): string {
  runCommand("npm", ["run", "-s", "build"]);
  runCommand("npm", ["pack", "--ignore-scripts", "--pack-destination", workFolder]);
  const name = readdirSync(workFolder).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new Error("npm pack has created no package.");
  return join(workFolder, name);
}

function runCommand(command: string, args: readonly string[], cwd?: string): void {
  const { status, stdout, stderr } = runProgram(command, args, { stdio: "pipe", ...(cwd && { cwd }) });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}\n${stderr}`);
}
