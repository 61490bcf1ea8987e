/**
 * Serves the TypeScript examples of adk-docs through `toA2a`, unchanged, on a fake Gemini endpoint, and
 * compares the text and the calls of each agent with those of a bare ADK runner. A difference fails the run, and so does
 * an example without an agent that throws, crashes, or times out.
 *
 *   npm run lab -- adk-docs --path PATH [--only TEXT] [--json]
 */
import { spawn } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startFakeGemini } from "./fake-gemini.ts";
import type { ExampleComparison } from "./run-example.ts";

/** This example is neither an ES module nor a CommonJS module: it uses `__dirname` and a top-level await. */
const BROKEN_EXAMPLES = ["snippets/skills/get_started.ts"];

const { values } = parseArgs({
  options: {
    path: { type: "string" },
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
  },
});
const folder = resolve(values.path ?? "", "examples/typescript");
if (values.path === undefined || !existsSync(folder)) {
  console.error(
    "Pass the folder of the documentation with --path: git clone https://github.com/google/adk-docs adk-docs, then npm run lab -- adk-docs --path adk-docs",
  );
  process.exit(2);
}

const gemini = await startFakeGemini();
const runner = fileURLToPath(new URL("run-example.ts", import.meta.url));
const files = globSync("**/*.ts", { cwd: folder })
  .filter((file) => file.includes(values.only) && !file.includes("node_modules"))
  .toSorted();
let agentCount = 0;
let fileCount = 0;
let differenceCount = 0;
let failureCount = 0;
for (const file of files) {
  const { comparisons, problem } = await runExample(join(folder, file));
  if (comparisons.length > 0) fileCount++;
  else if (problem === undefined) console.log(`no agent  ${file}`);
  else {
    const isExpected = BROKEN_EXAMPLES.includes(file.replaceAll("\\", "/"));
    if (!isExpected) failureCount++;
    console.log(`${isExpected ? "broken   " : "FAILED   "} ${file}: ${problem}`);
  }
  for (const comparison of comparisons) {
    agentCount++;
    if (!comparison.equal) differenceCount++;
    const { agent, equal, bare } = comparison;
    const calls = Array.isArray(bare.calls) ? bare.calls.length : 0;
    const summary = bare.error ?? `${bare.text.length} characters, ${calls} calls and responses`;
    console.log(`${equal ? "equal    " : "DIFFERENT"} ${file} (${agent}): ${summary}`);
    if (!equal || values.json) console.log(JSON.stringify(comparison));
  }
}
gemini.close();
console.log(
  `${files.length} examples, ${fileCount} with an agent; ${agentCount - differenceCount} of ${agentCount} agents are equal, ${failureCount} failures`,
);
process.exit(differenceCount + failureCount === 0 && agentCount > 0 ? 0 : 1);

async function runExample(
  path: string,
): Promise<{ comparisons: readonly ExampleComparison[]; problem?: string }> {
  const child = spawn(process.execPath, ["--no-warnings", runner, path], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 120_000,
    env: {
      ...process.env,
      GOOGLE_GEMINI_BASE_URL: gemini.url,
      GEMINI_API_KEY: "fake",
      GOOGLE_API_KEY: "fake",
      GOOGLE_GENAI_API_KEY: "fake",
      GOOGLE_GENAI_USE_VERTEXAI: "false",
    },
  });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  await new Promise((done) => child.once("close", done));
  const report = output.trim().split("\n").at(-1);
  if (!report) return { comparisons: [], problem: errors.trim().split("\n")[0] || "no output" };
  return JSON.parse(report) as { comparisons: readonly ExampleComparison[]; problem?: string };
}
