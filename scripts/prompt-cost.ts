/**
 * Computes the token cost of our roles' prompts without a model: `npm run prompt-cost -- --data <folder>`.
 * The roles work as in a real run, with the human solution as the model's answer, and all tokens are counted
 * (o200k_base, text only). The result describes only the length of the prompts; it measures no model. Without
 * a folder, it uses the 20 problems in the package.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import {
  decodeGsm8k,
  decodeHotpotQa,
  decodeGsm8kSocratic,
  type Gsm8kSample,
  getGsm8kSlice,
  type HotpotQaSample,
  mergeSocraticSteps,
  type Paragraph,
} from "../src/cards/index.ts";
import { runRole } from "../src/roles/fake-task-context.fixture.ts";
import {
  createAnswerer,
  createPlanner,
  createSolver,
  createDocumentsContext,
  type ModelRequest,
  createOracleModel,
  type PlannerOptions,
  type Role,
  type RoleModel,
  createScriptedModel,
} from "../src/roles/index.ts";

interface TokenTotals {
  calls: number;
  input: number;
  output: number;
}

const { values } = parseArgs({ options: { data: { type: "string" } } });

/** Counts the input and output tokens of a model. */
function withTokenCount(model: RoleModel, sums: TokenTotals): RoleModel {
  return {
    ...model,
    async complete(request) {
      const reply = await model.complete(request);
      sums.calls += 1;
      for (const { text } of request.messages) sums.input += countTokens(text);
      sums.output += countTokens(reply.text);
      return reply;
    },
  };
}

interface PromptCase<Sample> {
  readonly role: Role;
  readonly createModel: (sample: Sample) => RoleModel;
}

async function measurePromptCost<Sample extends Gsm8kSample | HotpotQaSample>(
  samples: readonly Sample[],
  { role, createModel }: PromptCase<Sample>,
): Promise<TokenTotals> {
  const sums: TokenTotals = { calls: 0, input: 0, output: 0 };
  for (const sample of samples) {
    const model = withTokenCount(createModel(sample), sums);
    const { reply } = await runRole(role, {
      task: sample.question,
      dataset: sample.dataset,
      sampleId: sample.id,
      model,
      delegates: { solver: { role: createSolver(), model } },
      ...(sample.dataset === "hotpotqa" && { context: createDocumentsContext(sample.paragraphs) }),
    });
    if (reply.message_type !== "result") throw new Error(`${sample.id}: ${reply.content}`);
  }
  const mean = (sum: number): number => sum / samples.length;
  return { calls: mean(sums.calls), input: mean(sums.input), output: mean(sums.output) };
}

/** Creates a model that returns the human solution with the final answer. */
function createHumanModel(style: "cot" | "direct", solution: string, gold: string): RoleModel {
  return createScriptedModel(() =>
    style === "cot" ? `${solution.trim()}\nAnswer: ${gold}` : `Answer: ${gold}`,
  );
}

const createBaselineRole = (style: "cot" | "direct"): Role => createAnswerer({ style });

function defineGsm8kBaseline(style: "cot" | "direct"): PromptCase<Gsm8kSample> {
  const modelFor = ({ solution, gold }: Gsm8kSample): RoleModel =>
    createHumanModel(style, solution.replaceAll(CALCULATOR_ANNOTATION, ""), gold);
  return { role: createBaselineRole(style), createModel: modelFor };
}

/** Matches calculator annotations such as `<<16-3-4=9>>`. */
const CALCULATOR_ANNOTATION = /<<[^>]*>>/g;

/** Plans the Socratic steps as subtasks, in as many calls as the turn limit allows. */
function defineGsm8kPlanner(options: PlannerOptions, batch = true): PromptCase<Gsm8kSample> {
  return {
    role: createPlanner(options),
    createModel: (sample) => createOracleModel([sample], { combineSteps: batch }),
  };
}

/**
 * Requests the two supporting paragraphs, either in sequence or in parallel. The findings are the supporting
 * sentences.
 */
function defineHotpotPlanner(options: PlannerOptions): PromptCase<HotpotQaSample> {
  return {
    role: createPlanner(options),
    createModel: (sample) => createScriptedModel((request) => renderHotpotReply(sample, request)),
  };
}

function renderHotpotReply(sample: HotpotQaSample, { input }: ModelRequest): string {
  const needed = sample.paragraphs.filter((paragraph) => getSupportingSentences(sample, paragraph) !== "");
  if (input.kind === "solve") {
    const paragraph = needed.find(({ title }) => input.task.content.endsWith(title));
    return paragraph ? getSupportingSentences(sample, paragraph) : "Not found";
  }
  if (input.kind === "answer") throw new Error("The planner must delegate a subtask before it answers.");
  const subtask = ({ title }: Paragraph): string => `${sample.question} Look into ${title}`;
  const open = needed.slice(input.findings.length);
  const [next] = open;
  if (!next) return JSON.stringify({ action: "final_answer", answer: sample.gold });
  if (input.mode === "chained")
    return JSON.stringify({ action: "call_solver", subtask: subtask(next), documents: [next.title] });
  const subtasks = open.map((paragraph, index) => ({
    id: `s${index + 1}`,
    task: subtask(paragraph),
    documents: [paragraph.title],
  }));
  return JSON.stringify({ action: "call_solvers", subtasks });
}

function getSupportingSentences(
  { supportingFacts }: HotpotQaSample,
  { title, sentences }: Paragraph,
): string {
  return supportingFacts
    .filter((fact) => fact.title === title)
    .map(({ sentence }) => sentences[sentence]?.trim() ?? "")
    .join(" ");
}

function defineHotpotBaseline(style: "cot" | "direct"): PromptCase<HotpotQaSample> {
  const modelFor = (sample: HotpotQaSample): RoleModel => {
    const needed = sample.paragraphs.map((paragraph) => getSupportingSentences(sample, paragraph));
    return createHumanModel(style, needed.filter(Boolean).join(" "), sample.gold);
  };
  return { role: createBaselineRole(style), createModel: modelFor };
}

async function printTable<Sample extends Gsm8kSample | HotpotQaSample>(
  title: string,
  samples: readonly Sample[],
  rows: Readonly<Record<string, PromptCase<Sample>>>,
): Promise<void> {
  console.log(`\n${title}, ${samples.length} problems\n`);
  console.log("| method | calls | input | output | total | × CoT | × CoT, output at five times the price |");
  console.log("|---|---|---|---|---|---|---|");
  const found = new Map<string, TokenTotals>();
  for (const [name, promptCase] of Object.entries(rows))
    found.set(name, await measurePromptCost(samples, promptCase));
  const cot = found.get("CoT") ?? { calls: 0, input: 0, output: 0 };
  for (const [name, { calls, input, output }] of found) {
    const total = (input + output) / (cot.input + cot.output);
    const priced = (input + 5 * output) / (cot.input + 5 * cot.output);
    const cells = [calls.toFixed(1), input.toFixed(0), output.toFixed(0), (input + output).toFixed(0)];
    console.log(`| ${[name, ...cells, total.toFixed(2), priced.toFixed(2)].join(" | ")} |`);
  }
}

function readFiles(folder: string, ...names: string[]): string[] | undefined {
  const files = names.map((name) => join(folder, name));
  return files.every((file) => existsSync(file))
    ? files.map((file) => readFileSync(file, "utf8"))
    : undefined;
}

const folder = values.data;
const [test, socratic] = (folder && readFiles(folder, "gsm8k/test.jsonl", "gsm8k/test_socratic.jsonl")) || [];
const gsm8k =
  test !== undefined && socratic !== undefined
    ? mergeSocraticSteps(
        decodeGsm8k(test, "test.jsonl"),
        decodeGsm8kSocratic(socratic, "test_socratic.jsonl"),
      )
    : getGsm8kSlice();
await printTable("GSM8K", gsm8k, {
  direct: defineGsm8kBaseline("direct"),
  CoT: defineGsm8kBaseline("cot"),
  "chained, 3 turns": defineGsm8kPlanner({ maxTurns: 3 }),
  "chained, 3 turns, whole conversation": defineGsm8kPlanner({ maxTurns: 3, transcript: "history" }),
  "chained, a call for each step": defineGsm8kPlanner({ maxTurns: 12 }, false),
  "chained, a call for each step, whole conversation": defineGsm8kPlanner(
    { maxTurns: 12, transcript: "history" },
    false,
  ),
  "parallel, a call for each step": defineGsm8kPlanner({ mode: "parallel", maxTurns: 12 }, false),
  "plan first, a call for each step": defineGsm8kPlanner({ mode: "plan-first" }, false),
});

const hotpot = (folder && readFiles(folder, "hotpotqa/dev_distractor_first100.jsonl")) || [];
if (hotpot[0] !== undefined)
  await printTable("HotpotQA, distractors", decodeHotpotQa(hotpot[0], "dev_distractor_first100.jsonl"), {
    direct: defineHotpotBaseline("direct"),
    CoT: defineHotpotBaseline("cot"),
    "the solver sees all, the planner titles": defineHotpotPlanner({ context: "full" }),
    "the solver sees all, the planner titles, whole conversation": defineHotpotPlanner({
      context: "full",
      transcript: "history",
    }),
    "routed: planner sees titles, solver what it is given": defineHotpotPlanner({ context: "routed" }),
    "routed, both hops at once": defineHotpotPlanner({ context: "routed", mode: "parallel" }),
  });
else console.log("\nHotpotQA: pass a folder with hotpotqa/dev_distractor_first100.jsonl in --data.");
