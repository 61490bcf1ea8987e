/**
 * Computes the token cost of our roles' prompts without a model: `npm run lab -- prompt-cost --data <folder>`.
 * The roles work as in a real run, with the human solution as the model's answer, and all tokens are counted
 * (o200k_base, text only). The result describes only the length of the prompts; it measures no model. Without
 * a folder, it uses the 20 problems in the package.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  decodeGsm8k,
  decodeHotpotQa,
  decodeGsm8kSocraticFile,
  type Gsm8kSample,
  getGsm8kSlice,
  type HotpotQaSample,
  mergeSocraticSteps,
  type Paragraph,
} from "../../src/cards/index.ts";
import { runRoleInFakeTaskContext } from "../../src/cards/roles/fake-task-context.fixture.ts";
import {
  createBaselineAnswerer,
  createPlanner,
  createSolver,
  createTaskContextFromDocuments,
  type ModelRequest,
  createOracleModel,
  type PlannerOptions,
  type Role,
  type RoleModel,
  createScriptedModel,
} from "../../src/cards/roles/index.ts";
import { requireFromManifest } from "../support/require-from-manifest.ts";

const { countTokens } = requireFromManifest<{ readonly countTokens: (text: string) => number }>(
  "prompt-cost",
  "lab/prompt-cost",
  "gpt-tokenizer/encoding/o200k_base",
);

interface TokenTotals {
  calls: number;
  input: number;
  output: number;
}

const { values } = parseArgs({ options: { data: { type: "string" } } });

/** Counts the input and output tokens of a model. */
function withInputAndOutputTokenCounting(model: RoleModel, sums: TokenTotals): RoleModel {
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

interface PromptCostCase<Sample> {
  readonly role: Role;
  readonly createModel: (sample: Sample) => RoleModel;
}

async function measureMeanCallsAndTokens<Sample extends Gsm8kSample | HotpotQaSample>(
  samples: readonly Sample[],
  { role, createModel }: PromptCostCase<Sample>,
): Promise<TokenTotals> {
  const sums: TokenTotals = { calls: 0, input: 0, output: 0 };
  for (const sample of samples) {
    const model = withInputAndOutputTokenCounting(createModel(sample), sums);
    const { reply } = await runRoleInFakeTaskContext(role, {
      task: sample.question,
      dataset: sample.dataset,
      sampleId: sample.id,
      model,
      delegates: { solver: { role: createSolver(), model } },
      ...(sample.dataset === "hotpotqa" && { context: createTaskContextFromDocuments(sample.paragraphs) }),
    });
    if (reply.message_type !== "result") throw new Error(`${sample.id}: ${reply.content}`);
  }
  const mean = (sum: number): number => sum / samples.length;
  return { calls: mean(sums.calls), input: mean(sums.input), output: mean(sums.output) };
}

/** Creates a model that returns the human solution with the final answer. */
function createHumanSolutionModel(style: "cot" | "direct", solution: string, gold: string): RoleModel {
  return createScriptedModel(() =>
    style === "cot" ? `${solution.trim()}\nAnswer: ${gold}` : `Answer: ${gold}`,
  );
}

const createBaselineAnswererRole = (style: "cot" | "direct"): Role => createBaselineAnswerer({ style });

function defineGsm8kBaselinePromptCostCase(style: "cot" | "direct"): PromptCostCase<Gsm8kSample> {
  const modelFor = ({ solution, gold }: Gsm8kSample): RoleModel =>
    createHumanSolutionModel(style, solution.replaceAll(CALCULATOR_ANNOTATION_PATTERN, ""), gold);
  return { role: createBaselineAnswererRole(style), createModel: modelFor };
}

/** Matches calculator annotations such as `<<16-3-4=9>>`. */
const CALCULATOR_ANNOTATION_PATTERN = /<<[^>]*>>/g;

/** Plans the Socratic steps as subtasks, in as many calls as the turn limit allows. */
function defineGsm8kPlannerPromptCostCase(
  options: PlannerOptions,
  batch = true,
): PromptCostCase<Gsm8kSample> {
  return {
    role: createPlanner(options),
    createModel: (sample) => createOracleModel([sample], { combineSteps: batch }),
  };
}

/** Requests the two supporting paragraphs in sequence. The findings are the supporting sentences. */
function defineHotpotPlannerPromptCostCase(options: PlannerOptions): PromptCostCase<HotpotQaSample> {
  return {
    role: createPlanner(options),
    createModel: (sample) => createScriptedModel((request) => renderScriptedHotpotReply(sample, request)),
  };
}

function renderScriptedHotpotReply(sample: HotpotQaSample, { input }: ModelRequest): string {
  const needed = sample.paragraphs.filter((paragraph) => getSupportingSentences(sample, paragraph) !== "");
  if (input.kind === "solve") {
    const paragraph = needed.find(({ title }) => input.task.content.endsWith(title));
    return paragraph ? getSupportingSentences(sample, paragraph) : "Not found";
  }
  if (input.kind === "answer") throw new Error("The planner must delegate a subtask before it answers.");
  const next = needed[input.findings.length];
  if (!next) return JSON.stringify({ action: "final_answer", answer: sample.gold });
  const subtask = `${sample.question} Look into ${next.title}`;
  return JSON.stringify({ action: "call_solver", subtask, documents: [next.title] });
}

/** The sentences that support each answer: title and position, by question. */
const supportingFacts = new Map<string, readonly (readonly [title: string, sentence: number])[]>();

function getSupportingSentences({ question }: HotpotQaSample, { title, sentences }: Paragraph): string {
  return (supportingFacts.get(question) ?? [])
    .filter(([name]) => name === title)
    .map(([, sentence]) => sentences[sentence]?.trim() ?? "")
    .join(" ");
}

function defineHotpotBaselinePromptCostCase(style: "cot" | "direct"): PromptCostCase<HotpotQaSample> {
  const modelFor = (sample: HotpotQaSample): RoleModel => {
    const needed = sample.paragraphs.map((paragraph) => getSupportingSentences(sample, paragraph));
    return createHumanSolutionModel(style, needed.filter(Boolean).join(" "), sample.gold);
  };
  return { role: createBaselineAnswererRole(style), createModel: modelFor };
}

async function printPromptCostTable<Sample extends Gsm8kSample | HotpotQaSample>(
  title: string,
  samples: readonly Sample[],
  rows: Readonly<Record<string, PromptCostCase<Sample>>>,
): Promise<void> {
  console.log(`\n${title}, ${samples.length} problems\n`);
  console.log("| method | calls | input | output | total | × CoT | × CoT, output at five times the price |");
  console.log("|---|---|---|---|---|---|---|");
  const found = new Map<string, TokenTotals>();
  for (const [name, promptCase] of Object.entries(rows))
    found.set(name, await measureMeanCallsAndTokens(samples, promptCase));
  const cot = found.get("CoT") ?? { calls: 0, input: 0, output: 0 };
  for (const [name, { calls, input, output }] of found) {
    const total = (input + output) / (cot.input + cot.output);
    const priced = (input + 5 * output) / (cot.input + 5 * cot.output);
    const cells = [calls.toFixed(1), input.toFixed(0), output.toFixed(0), (input + output).toFixed(0)];
    console.log(`| ${[name, ...cells, total.toFixed(2), priced.toFixed(2)].join(" | ")} |`);
  }
}

function readDatasetFilesIfPresent(folder: string, ...names: string[]): string[] | undefined {
  const files = names.map((name) => join(folder, name));
  return files.every((file) => existsSync(file))
    ? files.map((file) => readFileSync(file, "utf8"))
    : undefined;
}

const datasetFolder = values.data;
const [test, socratic] =
  (datasetFolder &&
    readDatasetFilesIfPresent(datasetFolder, "gsm8k/test.jsonl", "gsm8k/test_socratic.jsonl")) ||
  [];
const gsm8kSamples =
  test !== undefined && socratic !== undefined
    ? mergeSocraticSteps(
        decodeGsm8k(test, "test.jsonl"),
        decodeGsm8kSocraticFile(socratic, "test_socratic.jsonl"),
      )
    : getGsm8kSlice();
await printPromptCostTable("GSM8K", gsm8kSamples, {
  direct: defineGsm8kBaselinePromptCostCase("direct"),
  CoT: defineGsm8kBaselinePromptCostCase("cot"),
  "3 turns": defineGsm8kPlannerPromptCostCase({ maxTurns: 3 }),
  "3 turns, whole conversation": defineGsm8kPlannerPromptCostCase({
    maxTurns: 3,
    transcript: "history",
  }),
  "a call for each step": defineGsm8kPlannerPromptCostCase({ maxTurns: 12 }, false),
  "a call for each step, whole conversation": defineGsm8kPlannerPromptCostCase(
    { maxTurns: 12, transcript: "history" },
    false,
  ),
});

const hotpotDatasetTexts =
  (datasetFolder && readDatasetFilesIfPresent(datasetFolder, "hotpotqa/dev_distractor_first100.jsonl")) || [];
for (const line of hotpotDatasetTexts[0]?.trim().split("\n") ?? []) {
  const { question, supporting_facts: facts } = JSON.parse(line) as {
    question: string;
    supporting_facts: [string, number][];
  };
  supportingFacts.set(question, facts);
}
if (hotpotDatasetTexts[0] !== undefined)
  await printPromptCostTable(
    "HotpotQA, distractors",
    decodeHotpotQa(hotpotDatasetTexts[0], "dev_distractor_first100.jsonl"),
    {
      direct: defineHotpotBaselinePromptCostCase("direct"),
      CoT: defineHotpotBaselinePromptCostCase("cot"),
      "the solver sees all, the planner titles": defineHotpotPlannerPromptCostCase({ context: "full" }),
      "the solver sees all, the planner titles, whole conversation": defineHotpotPlannerPromptCostCase({
        context: "full",
        transcript: "history",
      }),
      "routed: planner sees titles, solver what it is given": defineHotpotPlannerPromptCostCase({
        context: "routed",
      }),
    },
  );
else console.log("\nHotpotQA: pass a folder with hotpotqa/dev_distractor_first100.jsonl in --data.");
