/**
 * `npm run lab -- real-model` runs a small language model without a key: an ADK agent, an AI SDK agent, and the methods of
 * `colloquy cards run` on GSM8K and HotpotQA, with the JSON formats as a grammar, and a2a also without. Prints one
 * comparison per dataset. The exit code is 1 if an agent has no answer, or if a run does not end.
 *
 *   --problems N   number of GSM8K problems (default: 12)
 *   --hotpotqa N   number of HotpotQA problems from COLLOQUY_DATA (default: 6, or 0 without the variable)
 *   --out FOLDER   folder for the recordings (default: results/real-model)
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { LlmAgent } from "@google/adk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ToolLoopAgent } from "ai";
import { adkAgent, createModel } from "../../src/entries/adk.ts";
import { fromAiSdk } from "../../src/entries/ai-sdk.ts";
import { type Agent, connect, createServer } from "../../src/entries/colloquy.ts";
import { type LocalModelServer, MODEL_NAME, startLocalModel } from "./local-model.ts";

/** Only the planner of the method a2a has JSON formats, so the other methods are equal without the grammar. */
const METHODS = { grammar: "direct,cot,cot-sc@3,a2a", "no-grammar": "a2a" };
const PROMPT = "Say hello to Ada in one short sentence.";
const report = (line: string): void => void process.stderr.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    problems: { type: "string", default: "12" },
    hotpotqa: { type: "string", default: process.env["COLLOQUY_DATA"] === undefined ? "0" : "6" },
    out: { type: "string", default: "results/real-model" },
  },
});
const model = await startLocalModel(report);
if ("reason" in model) {
  report(`The model cannot run: ${model.reason}.`);
  process.exit(1);
}
try {
  await checkAgents(model);
  rmSync(values.out, { recursive: true, force: true });
  for (const usesGrammar of [true, false]) {
    model.usesGrammar = usesGrammar;
    const setting = usesGrammar ? "grammar" : "no-grammar";
    await runMethods(model, "gsm8k", Number(values.problems), setting);
    await runMethods(model, "hotpotqa", Number(values.hotpotqa), setting);
  }
} finally {
  await model.close();
}
// The runtime of the model keeps the process alive.
process.exit();

/** Serves an ADK agent and an AI SDK agent with the model, and asks each of them. */
async function checkAgents({ baseUrl }: LocalModelServer): Promise<void> {
  const provider = createOpenAICompatible({ name: "local", baseURL: baseUrl, includeUsage: true });
  const agents: Readonly<Record<string, Agent>> = {
    adk: adkAgent(
      new LlmAgent({
        name: "adk",
        description: "Greets people",
        instruction: "You are polite.",
        model: createModel(`ollama:${MODEL_NAME}`, { baseURL: baseUrl }),
      }),
    ),
    "ai-sdk": fromAiSdk(new ToolLoopAgent({ model: provider(MODEL_NAME), instructions: "You are polite." }), {
      name: "ai-sdk",
      description: "Greets people",
    }),
  };
  const tokens: Record<string, number> = {};
  const server = createServer(agents, {
    store: "memory",
    observer: {
      onAgentCall: ({ scope, call }) => {
        if (call.kind === "model") tokens[scope.agent] = (call.inputTokens ?? 0) + (call.outputTokens ?? 0);
      },
    },
  });
  const { url } = await server.listen();
  for (const id of Object.keys(agents)) {
    const { text, task } = await (await connect(`${url}/a2a/${id}`)).ask(PROMPT);
    assert.equal(task?.status.state, "TASK_STATE_COMPLETED", `${id}: ${JSON.stringify(task?.status)}`);
    assert.notEqual(text.trim(), "", `${id} has no answer`);
    assert.ok((tokens[id] ?? 0) > 0, `${id} has reported no tokens`);
    report(`${id}: ${JSON.stringify(text.trim())} (${tokens[id]} tokens)`);
  }
  await server.close();
}

/** Runs all methods on a dataset with one setting. The command ends with their comparison. */
async function runMethods(
  { baseUrl }: LocalModelServer,
  dataset: "gsm8k" | "hotpotqa",
  count: number,
  setting: keyof typeof METHODS,
): Promise<void> {
  if (count === 0) return;
  const out = join(values.out, `${dataset}-${setting}`);
  mkdirSync(out, { recursive: true });
  const options = ["--dataset", dataset, "-n", String(count), "--method", METHODS[setting], "--out", out];
  const limits = ["--max-tokens", "300", "--concurrency", "1", "--on-error", "wrong", "--deadline", "5m"];
  process.stdout.write(`\n## ${dataset}, ${setting}\n\n`);
  await runCards("run", ...options, ...limits, "--model", MODEL_NAME, "--base-url", baseUrl, "--seed", "1");
}

async function runCards(...args: readonly string[]): Promise<void> {
  const cli = fileURLToPath(new URL("../../bin/colloquy.js", import.meta.url));
  const child = spawn(process.execPath, [cli, "cards", ...args], { stdio: ["ignore", "inherit", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  assert.equal(code, 0, `colloquy cards ${args[0]} ended with ${code}`);
}
