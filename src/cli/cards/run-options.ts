import { addOptionRows } from "../option-rows.ts";
import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import type { QuestionFields } from "../../cards/index.ts";
import type { FaultOptions, PlannerOptions } from "../../cards/roles/index.ts";
import { parseCount, parseDuration, parseJsonObject } from "../client-options.ts";
import type { JsonObject } from "../../protocol/index.ts";
import {
  addOutputFormatOptions,
  createTariffOption,
  parseList,
  parseNumbersByName,
  type CardsCommandOptions,
} from "./read-runs.ts";

/** Options of the planner that this command has under another name, or not at all. */
type OtherPlannerOption = "name" | "solver" | "instructions";

export interface CardsRunOptions
  extends Pick<CardsCommandOptions, "output" | "tariff">, Omit<PlannerOptions, OtherPlannerOption> {
  dataset: "gsm8k" | "hotpotqa" | "questions";
  fields?: QuestionFields;
  repeat: number;
  data?: string;
  n?: number;
  offset: number;
  sample?: string[];
  method: string[];
  model?: string[];
  plannerModel?: string;
  solverModel?: string;
  planner?: string;
  solver?: string;
  scorer?: string;
  baseUrl?: string;
  apiKeyEnv?: string;
  onError: "fail" | "wrong" | "skip";
  concurrency: number;
  rpm?: number;
  tpm?: number;
  budget?: { readonly tokens?: number; readonly cost?: number };
  prompts?: RolePrompts;
  extraBody?: JsonObject;
  deadline: number;
  out: string;
  runId?: string;
  resume?: boolean;
  faults?: FaultOptions;
  cassette?: string;
  replay?: boolean;
}

const FIELDS_FORM = "question=prompt,answer=target,id=key,documents=context";
const BUDGET_FORM = "tokens=200000,cost=2.50";

/** The options with their values and descriptions, which are separated by two spaces. */
const OPTION_TABLE = `
--dataset <name>  dataset of problems
--data <path>  folder or file of the dataset, or set COLLOQUY_DATA (default: 20 shipped GSM8K problems)
--fields <names>  columns of a file of questions (.csv, .json, .jsonl), for example ${FIELDS_FORM}
-n, --n <count>  number of problems (default: all)
--offset <number>  number of problems to skip first
--sample <ids>  only these problems, for example gsm8k_0,gsm8k_7
--method <names>  a2a, cot, direct, cot-sc@k, direct-sc@k, debate@k; comma-separated methods run one after another
--model <name>  model of all roles: gemini:…, openai:…, anthropic:…, ollama:…, NAME@http://…; or without a model: oracle (GSM8K); comma-separated models run one after another
--base-url <url>  URL of any OpenAI-compatible server, for example http://127.0.0.1:8000/v1; --model names its model
--api-key-env <name>  variable with the API key for --base-url (default: no key)
--extra-body <json>  members of each request to --base-url, null removes one, for example {"max_tokens":null,"max_completion_tokens":500}
--prompts <file>  JSON file with instructions for roles, as the members planner, solver, and answerer
--planner-model <name>  model of the planner
--solver-model <name>  model of the solver
--planner <url>  URL of a planner on another server
--solver <url>  URL of a solver on another server; any A2A agent
--context <policy>  documents that a solver receives (default: routed)
--transcript <kind>  transcript for the planner in each turn (default: facts)
--force-first-solver <rule>  handling of an answer before the first solver call (default: force)
--max-turns <count>  maximum turns of the planner (default: 3 for gsm8k, 5 for hotpotqa)
--token-budget <count>  maximum tokens per problem, for a2a (default: none)
--max-tokens <count>  maximum tokens per model answer
--temperature <number>  sampling temperature (default: the model's own)
--seed <number>  random seed, if the model supports one
--repeat <count>  run each method several times, each time with the next seed
--scorer <name>  number, exact, f1, choice, a file such as ./score.ts, or judge:MODEL (default: number for gsm8k, f1 for hotpotqa)
--concurrency <count>  maximum number of model requests in flight
--rpm <count>  maximum number of model requests per minute
--tpm <count>  maximum number of input and output tokens per minute
--budget <limits>  tokens or cost after which a run stops, for example ${BUDGET_FORM}; a cost requires --tariff
--deadline <duration>  time limit per problem, for example 90s
--on-error <rule>  a problem that ends with an error or a timeout makes the run fail, counts as wrong, or is skipped
--out <folder>  folder for recordings
--run-id <id>  id of the run and name of its file (default: derived from the options)
--resume  resume a run that was interrupted or killed
--faults <list>  injected faults, for example wrong=0.05,invalidJson=0.1,fails=0.01,slow=0.1:500,seed=7,refuseFirst=once,loop
--cassette <file>  file for recording and replaying model answers
--replay  use only answers from the cassette, without a model`;

/** Parsers by the value or the name of an option. All other values are texts. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  "<count>": parsePositiveInteger,
  "<duration>": parseDuration,
  "<json>": parseJsonObject,
  "<number>": parseCount,
  budget: (text) => parseNumbersByName(text, ["tokens", "cost"], BUDGET_FORM),
  faults: parseInjectedModelFaults,
  fields: parseQuestionFields,
  method: parseList,
  model: parseList,
  prompts: readRolePrompts,
  sample: parseList,
  temperature: parseTemperature,
};

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  dataset: ["gsm8k", "hotpotqa", "questions"],
  context: ["none", "full", "routed"],
  transcript: ["facts", "history"],
  "force-first-solver": ["force", "reprompt", "allow"],
  "on-error": ["fail", "wrong", "skip"],
};

const DEFAULTS: Readonly<Record<string, readonly [value: unknown, description?: string]>> = {
  concurrency: [4],
  dataset: ["gsm8k"],
  deadline: [120_000, "2m"],
  method: [["a2a"], "a2a"],
  offset: [0],
  "on-error": ["fail"],
  out: ["results"],
  repeat: [1],
};

export function addCardsRunOptions(command: Command): Command {
  addOptionRows(command, OPTION_TABLE, { values: { ...PARSERS, ...CHOICES }, defaults: DEFAULTS });
  return addOutputFormatOptions(command.addOption(createTariffOption()));
}

function parsePositiveInteger(text: string): number {
  const value = parseCount(text);
  if (value === 0) throw new InvalidArgumentError("It must be 1 or more.");
  return value;
}

/** Instructions that replace those of the package, by role. */
export type RolePrompts = Readonly<Partial<Record<"planner" | "solver" | "answerer", string>>>;

function readRolePrompts(file: string): RolePrompts {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new InvalidArgumentError(`${file} cannot be read: ${(cause as Error).message}`);
  }
  const prompts = parseJsonObject(text);
  for (const [role, prompt] of Object.entries(prompts))
    if (!["planner", "solver", "answerer"].includes(role) || typeof prompt !== "string")
      throw new InvalidArgumentError("The file must contain texts for planner, solver, and answerer.");
  return prompts;
}

function parseTemperature(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 2))
    throw new InvalidArgumentError("It must be from 0 to 2.");
  return value;
}

function parseQuestionFields(text: string): QuestionFields {
  const pairs = parseList(text).map((pair) => pair.split("=") as [string, string?]);
  for (const [part, name] of pairs)
    if (!["question", "answer", "id", "documents"].includes(part) || !name)
      throw new InvalidArgumentError(`Use the form ${FIELDS_FORM}.`);
  return Object.fromEntries(pairs) as QuestionFields;
}

function parseInjectedModelFaults(text: string): FaultOptions {
  return Object.assign({}, ...parseList(text).map(parseInjectedModelFault)) as FaultOptions;
}

function parseInjectedModelFault(word: string): FaultOptions {
  const [name = "", value = ""] = word.split("=");
  if (word === "loop") return { loop: true };
  if (name === "refuseFirst" && (value === "once" || value === "always")) return { refuseFirst: value };
  if (name === "seed" && /^\d+$/.test(value)) return { seed: Number(value) };
  if (["wrong", "invalidJson", "fails"].includes(name) && isFraction(value)) return { [name]: Number(value) };
  const [share = "", ms = ""] = value.split(":");
  if (name === "slow" && isFraction(share) && /^\d{1,7}$/.test(ms))
    return { slow: { share: Number(share), ms: Number(ms) } };
  throw new InvalidArgumentError(
    `${word} is not a fault. Use the form wrong=0.05,slow=0.1:500,seed=7,refuseFirst=once,loop.`,
  );
}

function isFraction(text: string): boolean {
  return /^(1|0|0?\.\d+)$/.test(text);
}
