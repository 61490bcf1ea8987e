/**
 * What the prompts of our roles cost, without a model: `npm run prompt-cost -- --data <folder>`. The roles work as they do in
 * a run; what a model would say is the human solution, and the tokens of both are counted (o200k_base, texts only). It is
 * arithmetic about the shape of prompts: no model was asked, and none is judged. Without a folder: the 20 shipped problems.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import {
  decodeGsm8k,
  decodeHotpotQa,
  decodeSocratic,
  type GsmSample,
  gsm8kSlice,
  type HotpotSample,
  joinSocratic,
  type Paragraph,
} from "../src/cards/index.ts";
import { runRole } from "../src/roles/desk.fixture.ts";
import {
  createAnswerer,
  createPlanner,
  createSolver,
  documentsContext,
  type ModelRequest,
  oracle,
  type PlannerOptions,
  type Role,
  type RoleModel,
  scripted,
} from "../src/roles/index.ts";

interface Sums {
  calls: number;
  input: number;
  output: number;
}

const { values } = parseArgs({ options: { data: { type: "string" } } });

/** Counts what a model is told and what it says. */
function counted(model: RoleModel, sums: Sums): RoleModel {
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

interface Asked<Sample> {
  readonly role: Role;
  readonly modelFor: (sample: Sample) => RoleModel;
}

async function measure<Sample extends GsmSample | HotpotSample>(
  samples: readonly Sample[],
  { role, modelFor }: Asked<Sample>,
): Promise<Sums> {
  const sums: Sums = { calls: 0, input: 0, output: 0 };
  for (const sample of samples) {
    const model = counted(modelFor(sample), sums);
    const { reply } = await runRole(role, {
      task: sample.question,
      dataset: sample.dataset,
      sampleId: sample.id,
      model,
      colleagues: { solver: { role: createSolver(), model } },
      ...(sample.dataset === "hotpotqa" && { context: documentsContext(sample.paragraphs) }),
    });
    if (reply.message_type !== "result") throw new Error(`${sample.id}: ${reply.content}`);
  }
  const mean = (sum: number): number => sum / samples.length;
  return { calls: mean(sums.calls), input: mean(sums.input), output: mean(sums.output) };
}

/** Says what the human wrote down, and the answer behind it. */
function human(style: "cot" | "direct", solution: string, gold: string): RoleModel {
  return scripted(() => (style === "cot" ? `${solution.trim()}\nAnswer: ${gold}` : `Answer: ${gold}`));
}

const baseline = (style: "cot" | "direct"): Role => createAnswerer({ style });

function onGsm8k(style: "cot" | "direct"): Asked<GsmSample> {
  const modelFor = ({ solution, gold }: GsmSample): RoleModel =>
    human(style, solution.replaceAll(ANNOTATION, ""), gold);
  return { role: baseline(style), modelFor };
}

/** `<<16-3-4=9>>`: for calculators. */
const ANNOTATION = /<<[^>]*>>/g;

/** The Socratic steps as subtasks, in as many calls as the turns allow. */
function planned(options: PlannerOptions, batch = true): Asked<GsmSample> {
  return { role: createPlanner(options), modelFor: (sample) => oracle([sample], { batch }) };
}

/** The two paragraphs that are needed, one after the other or both at once; the sentences that are needed as findings. */
function routed(options: PlannerOptions): Asked<HotpotSample> {
  return { role: createPlanner(options), modelFor: (sample) => scripted((request) => hop(sample, request)) };
}

function hop(sample: HotpotSample, { step }: ModelRequest): string {
  const needed = sample.paragraphs.filter((paragraph) => supporting(sample, paragraph) !== "");
  if (step.kind === "solve") {
    const paragraph = needed.find(({ title }) => step.task.content.endsWith(title));
    return paragraph ? supporting(sample, paragraph) : "Not found";
  }
  if (step.kind === "answer") throw new Error("The planner does not answer at once.");
  const subtask = ({ title }: Paragraph): string => `${sample.question} Look into ${title}`;
  const open = needed.slice(step.findings.length);
  const [next] = open;
  if (!next) return JSON.stringify({ action: "final_answer", answer: sample.gold });
  if (step.mode === "chained")
    return JSON.stringify({ action: "call_solver", subtask: subtask(next), documents: [next.title] });
  const subtasks = open.map((paragraph, at) => ({
    id: `s${at + 1}`,
    task: subtask(paragraph),
    documents: [paragraph.title],
  }));
  return JSON.stringify({ action: "call_solvers", subtasks });
}

function supporting({ supporting }: HotpotSample, { title, sentences }: Paragraph): string {
  return supporting
    .filter((fact) => fact.title === title)
    .map(({ sentence }) => sentences[sentence]?.trim() ?? "")
    .join(" ");
}

function onHotpotQa(style: "cot" | "direct"): Asked<HotpotSample> {
  const modelFor = (sample: HotpotSample): RoleModel => {
    const needed = sample.paragraphs.map((paragraph) => supporting(sample, paragraph));
    return human(style, needed.filter(Boolean).join(" "), sample.gold);
  };
  return { role: baseline(style), modelFor };
}

async function table<Sample extends GsmSample | HotpotSample>(
  title: string,
  samples: readonly Sample[],
  rows: Readonly<Record<string, Asked<Sample>>>,
): Promise<void> {
  console.log(`\n${title}, ${samples.length} problems\n`);
  console.log("| method | calls | input | output | total | × CoT | × CoT, output at five times the price |");
  console.log("|---|---|---|---|---|---|---|");
  const found = new Map<string, Sums>();
  for (const [name, asked] of Object.entries(rows)) found.set(name, await measure(samples, asked));
  const cot = found.get("CoT") ?? { calls: 0, input: 0, output: 0 };
  for (const [name, { calls, input, output }] of found) {
    const total = (input + output) / (cot.input + cot.output);
    const priced = (input + 5 * output) / (cot.input + 5 * cot.output);
    const cells = [calls.toFixed(1), input.toFixed(0), output.toFixed(0), (input + output).toFixed(0)];
    console.log(`| ${[name, ...cells, total.toFixed(2), priced.toFixed(2)].join(" | ")} |`);
  }
}

function read(folder: string, ...names: string[]): string[] | undefined {
  const files = names.map((name) => join(folder, name));
  return files.every((file) => existsSync(file))
    ? files.map((file) => readFileSync(file, "utf8"))
    : undefined;
}

const folder = values.data;
const [test, socratic] = (folder && read(folder, "gsm8k/test.jsonl", "gsm8k/test_socratic.jsonl")) || [];
const gsm8k =
  test !== undefined && socratic !== undefined
    ? joinSocratic(decodeGsm8k(test, "test.jsonl"), decodeSocratic(socratic, "test_socratic.jsonl"))
    : gsm8kSlice();
await table("GSM8K", gsm8k, {
  direct: onGsm8k("direct"),
  CoT: onGsm8k("cot"),
  "chained, 3 turns": planned({ maxTurns: 3 }),
  "chained, 3 turns, whole conversation": planned({ maxTurns: 3, transcript: "history" }),
  "chained, a call for each step": planned({ maxTurns: 12 }, false),
  "chained, a call for each step, whole conversation": planned(
    { maxTurns: 12, transcript: "history" },
    false,
  ),
  "parallel, a call for each step": planned({ mode: "parallel", maxTurns: 12 }, false),
  "plan first, a call for each step": planned({ mode: "plan-first" }, false),
});

const hotpot = (folder && read(folder, "hotpotqa/dev_distractor_first100.jsonl")) || [];
if (hotpot[0] !== undefined)
  await table("HotpotQA, distractors", decodeHotpotQa(hotpot[0], "dev_distractor_first100.jsonl"), {
    direct: onHotpotQa("direct"),
    CoT: onHotpotQa("cot"),
    "the solver sees all, the planner titles": routed({ context: "full" }),
    "the solver sees all, the planner titles, whole conversation": routed({
      context: "full",
      transcript: "history",
    }),
    "routed: planner sees titles, solver what it is given": routed({ context: "routed" }),
    "routed, both hops at once": routed({ context: "routed", mode: "parallel" }),
  });
else console.log("\nHotpotQA: name a folder with hotpotqa/dev_distractor_first100.jsonl in --data.");
