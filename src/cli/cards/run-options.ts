import { readFileSync } from "node:fs";
import { InvalidArgumentError, Option, type Command } from "commander";
import type { QuestionFields } from "../../cards/index.ts";
import type { FaultOptions, PlannerDispatchMode } from "../../cards/roles/index.ts";
import { parseCount, parseDuration, parseJsonObject } from "../client-options.ts";
import type { JsonObject } from "../../protocol/index.ts";
import {
  addOutputFormatOptions,
  createTariffOption,
  type OutputFormatOptions,
  type TariffOptions,
} from "./cards-command-options.ts";

export interface CardsRunOptions extends OutputFormatOptions, TariffOptions {
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
  mode?: PlannerDispatchMode;
  context?: "none" | "full" | "routed";
  transcript?: "facts" | "history";
  forceFirstSolver?: "force" | "reprompt" | "allow";
  maxTurns?: number;
  maxSolverCalls?: number;
  tokenBudget?: number;
  maxTokens?: number;
  temperature?: number;
  seed?: number;
  calculator?: boolean;
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

export function addCardsRunOptions(command: Command): Command {
  command
    .addOption(
      new Option("--dataset <name>", "dataset of problems")
        .choices(["gsm8k", "hotpotqa", "questions"])
        .default("gsm8k"),
    )
    .addOption(
      new Option(
        "--data <path>",
        "folder or file of the dataset, or set COLLOQUY_DATA (default: 20 shipped GSM8K problems)",
      ),
    )
    .addOption(
      new Option(
        "--fields <names>",
        "columns of a file of questions (.csv, .json, .jsonl), for example question=prompt,answer=target,id=key,documents=context",
      ).argParser(parseQuestionFields),
    )
    .addOption(
      new Option("-n, --n <count>", "number of problems (default: all)").argParser(parsePositiveInteger),
    )
    .addOption(
      new Option("--offset <count>", "number of problems to skip first").argParser(parseCount).default(0),
    )
    .addOption(
      new Option("--sample <ids>", "only these problems, for example gsm8k_0,gsm8k_7").argParser(parseList),
    )
    .addOption(
      new Option(
        "--method <names>",
        "a2a, cot, direct, cot-sc@k, direct-sc@k, debate@k; comma-separated methods run one after another",
      )
        .argParser(parseList)
        .default(["a2a"], "a2a"),
    )
    .addOption(
      new Option(
        "--model <name>",
        "model of all roles: gemini:…, openai:…, anthropic:…, ollama:…, NAME@http://…; or without a model: oracle (GSM8K), heuristic (HotpotQA), recorded:175b_verification …; comma-separated models run one after another",
      ).argParser(parseList),
    )
    .addOption(
      new Option(
        "--base-url <url>",
        "URL of any OpenAI-compatible server, for example http://127.0.0.1:8000/v1; --model names its model",
      ),
    )
    .addOption(
      new Option("--api-key-env <name>", "variable with the API key for --base-url (default: no key)"),
    )
    .addOption(
      new Option(
        "--extra-body <json>",
        'members of each request to --base-url, null removes one, for example {"max_tokens":null,"max_completion_tokens":500}',
      ).argParser(parseJsonObject),
    )
    .addOption(
      new Option(
        "--prompts <file>",
        "JSON file with instructions for roles, as the members planner, solver, and answerer",
      ).argParser(readRolePrompts),
    )
    .addOption(new Option("--planner-model <name>", "model of the planner"))
    .addOption(new Option("--solver-model <name>", "model of the solver"))
    .addOption(new Option("--planner <url>", "URL of a planner on another server"))
    .addOption(new Option("--solver <url>", "URL of a solver on another server; any A2A agent"))
    .addOption(
      new Option("--mode <mode>", "planning mode (default: chained)").choices([
        "chained",
        "plan-first",
        "parallel",
      ]),
    )
    .addOption(
      new Option("--context <policy>", "documents that a solver receives (default: routed)").choices([
        "none",
        "full",
        "routed",
      ]),
    )
    .addOption(
      new Option("--transcript <kind>", "transcript for the planner in each turn (default: facts)").choices([
        "facts",
        "history",
      ]),
    )
    .addOption(
      new Option(
        "--force-first-solver <rule>",
        "handling of an answer before the first solver call (default: force)",
      ).choices(["force", "reprompt", "allow"]),
    )
    .addOption(
      new Option(
        "--max-turns <count>",
        "maximum turns of the planner (default: 3 for gsm8k, 5 for hotpotqa)",
      ).argParser(parsePositiveInteger),
    )
    .addOption(
      new Option(
        "--max-solver-calls <count>",
        "maximum solver calls per problem (default: limited by the turns)",
      ).argParser(parsePositiveInteger),
    )
    .addOption(
      new Option("--token-budget <count>", "maximum tokens per problem, for a2a (default: none)").argParser(
        parsePositiveInteger,
      ),
    )
    .addOption(
      new Option("--max-tokens <count>", "maximum tokens per model answer").argParser(parsePositiveInteger),
    )
    .addOption(
      new Option("--temperature <number>", "sampling temperature (default: the model's own)").argParser(
        parseTemperature,
      ),
    )
    .addOption(new Option("--seed <number>", "random seed, if the model supports one").argParser(parseCount))
    .addOption(
      new Option("--repeat <count>", "run each method several times, each time with the next seed")
        .argParser(parsePositiveInteger)
        .default(1),
    )
    .addOption(new Option("--calculator", "let solvers write arithmetic that is evaluated for them"))
    .addOption(
      new Option(
        "--scorer <name>",
        "number, exact, f1, choice, a file such as ./score.ts, or judge:MODEL (default: number for gsm8k, f1 for hotpotqa)",
      ),
    )
    .addOption(
      new Option("--concurrency <count>", "maximum number of model requests in flight")
        .argParser(parsePositiveInteger)
        .default(4),
    )
    .addOption(
      new Option("--rpm <count>", "maximum number of model requests per minute").argParser(
        parsePositiveInteger,
      ),
    )
    .addOption(
      new Option("--tpm <count>", "maximum number of input and output tokens per minute").argParser(
        parsePositiveInteger,
      ),
    )
    .addOption(
      new Option(
        "--budget <limits>",
        "tokens or cost after which a run stops, for example tokens=200000,cost=2.50; a cost requires --tariff",
      ).argParser(parseBudget),
    )
    .addOption(createTariffOption())
    .addOption(
      new Option("--deadline <duration>", "time limit per problem, for example 90s")
        .argParser(parseDuration)
        .default(120_000, "2m"),
    )
    .addOption(
      new Option(
        "--on-error <rule>",
        "a problem that ends with an error or a timeout makes the run fail, counts as wrong, or is skipped",
      )
        .choices(["fail", "wrong", "skip"])
        .default("fail"),
    )
    .addOption(new Option("--out <folder>", "folder for recordings").default("results"))
    .addOption(
      new Option("--run-id <id>", "id of the run and name of its file (default: derived from the options)"),
    )
    .addOption(new Option("--resume", "resume a run that was interrupted or killed"))
    .addOption(
      new Option(
        "--faults <list>",
        "injected faults, for example wrong=0.05,invalidJson=0.1,fails=0.01,slow=0.1:500,seed=7,refuseFirst=once,loop",
      ).argParser(parseInjectedModelFaults),
    )
    .addOption(new Option("--cassette <file>", "file for recording and replaying model answers"))
    .addOption(new Option("--replay", "use only answers from the cassette, without a model"));
  return addOutputFormatOptions(command);
}

function parsePositiveInteger(text: string): number {
  const value = parseCount(text);
  if (value === 0) throw new InvalidArgumentError("It must be 1 or more.");
  return value;
}

function parseBudget(text: string): { tokens?: number; cost?: number } {
  const pairs = parseList(text).map((pair) => pair.split("=") as [string, string?]);
  for (const [name, value = ""] of pairs)
    if (!["tokens", "cost"].includes(name) || !/^\d{1,15}(?:\.\d+)?$/.test(value))
      throw new InvalidArgumentError("Use the form tokens=200000,cost=2.50.");
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
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

function parseList(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  if (words.includes("")) throw new InvalidArgumentError("Separate the names with commas.");
  return words;
}

function parseQuestionFields(text: string): QuestionFields {
  const pairs = parseList(text).map((pair) => pair.split("=") as [string, string?]);
  for (const [part, name] of pairs)
    if (!["question", "answer", "id", "documents"].includes(part) || !name)
      throw new InvalidArgumentError("Use the form question=prompt,answer=target,id=key,documents=context.");
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
