import { InvalidArgumentError, Option, type Command } from "commander";
import type { FaultOptions, PlannerMode } from "../../roles/index.ts";
import { parseCount, parseDuration } from "../client-options.ts";
import { addDocumentOptions, type DocumentOptions } from "./cards-options.ts";

export interface CardsRunOptions extends DocumentOptions {
  dataset: "gsm8k" | "hotpotqa";
  data?: string;
  n?: number;
  offset: number;
  sample?: string[];
  method: string[];
  model: string;
  plannerModel?: string;
  solverModel?: string;
  planner?: string;
  solver?: string;
  mode?: PlannerMode;
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
  rule?: string;
  concurrency: number;
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
    .addOption(new Option("--dataset <name>", "the problems").choices(["gsm8k", "hotpotqa"]).default("gsm8k"))
    .addOption(
      new Option(
        "--data <path>",
        "their folder or file, also as COLLOQUY_DATA (default: GSM8K's shipped 20)",
      ),
    )
    .addOption(
      new Option("-n, --n <count>", "so many of them (default: all)").argParser(parsePositiveInteger),
    )
    .addOption(new Option("--offset <count>", "leave out so many before").argParser(parseCount).default(0))
    .addOption(new Option("--sample <ids>", "these alone, as in gsm8k_0,gsm8k_7").argParser(parseList))
    .addOption(
      new Option(
        "--method <names>",
        "a2a, cot, direct, cot-sc@k, direct-sc@k; several with commas are a run each",
      )
        .argParser(parseList)
        .default(["a2a"], "a2a"),
    )
    .addOption(
      new Option(
        "--model <name>",
        "of all roles: gemini:…, openai:…, anthropic:…, ollama:…; or oracle (GSM8K), heuristic (HotpotQA), recorded:175b_verification …",
      ).default("oracle"),
    )
    .addOption(new Option("--planner-model <name>", "of the planner alone"))
    .addOption(new Option("--solver-model <name>", "of the solver alone"))
    .addOption(new Option("--planner <url>", "a planner that is served elsewhere"))
    .addOption(new Option("--solver <url>", "a solver that is served elsewhere: any A2A agent"))
    .addOption(
      new Option("--mode <mode>", "how the planner works (default: chained)").choices([
        "chained",
        "plan-first",
        "parallel",
      ]),
    )
    .addOption(
      new Option("--context <policy>", "what of the documents a solver is shown (default: routed)").choices([
        "none",
        "full",
        "routed",
      ]),
    )
    .addOption(
      new Option("--transcript <kind>", "what the planner reads again each turn (default: facts)").choices([
        "facts",
        "history",
      ]),
    )
    .addOption(
      new Option(
        "--force-first-solver <rule>",
        "what becomes of an answer before any solver was called (default: force)",
      ).choices(["force", "reprompt", "allow"]),
    )
    .addOption(
      new Option("--max-turns <count>", "of the planner (default: 3 for gsm8k, 5 for hotpotqa)").argParser(
        parsePositiveInteger,
      ),
    )
    .addOption(
      new Option("--max-solver-calls <count>", "of a problem (default: as the turns allow)").argParser(
        parsePositiveInteger,
      ),
    )
    .addOption(
      new Option("--token-budget <count>", "of a problem (default: none)").argParser(parsePositiveInteger),
    )
    .addOption(new Option("--max-tokens <count>", "of one answer of a model").argParser(parsePositiveInteger))
    .addOption(
      new Option("--temperature <number>", "of the models (default: their own)").argParser(parseTemperature),
    )
    .addOption(new Option("--seed <number>", "for models that take one").argParser(parseCount))
    .addOption(new Option("--calculator", "solvers may write arithmetic, which is calculated for them"))
    .addOption(new Option("--rule <name>", "how answers are scored: strict (default) or flexible, for gsm8k"))
    .addOption(
      new Option("--concurrency <count>", "problems at a time").argParser(parsePositiveInteger).default(4),
    )
    .addOption(
      new Option("--deadline <duration>", "of a problem, for example 90s")
        .argParser(parseDuration)
        .default(120_000, "2m"),
    )
    .addOption(new Option("--out <folder>", "where records go").default("results"))
    .addOption(new Option("--run-id <id>", "names the run and its file (default: made of what it is)"))
    .addOption(new Option("--resume", "go on with a run that was interrupted, or killed"))
    .addOption(
      new Option(
        "--faults <list>",
        "mistakes put in on purpose, as in wrong=0.05,invalidJson=0.1,fails=0.01,slow=0.1:500,seed=7,refuseFirst=once,loop",
      ).argParser(parseFaults),
    )
    .addOption(new Option("--cassette <file>", "keep the models' answers there, and take them from there"))
    .addOption(new Option("--replay", "ask no model: everything comes from the cassette"));
  return addDocumentOptions(command);
}

function parsePositiveInteger(text: string): number {
  const value = parseCount(text);
  if (value === 0) throw new InvalidArgumentError("It must be 1 or more.");
  return value;
}

function parseTemperature(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 2))
    throw new InvalidArgumentError("It must be from 0 to 2.");
  return value;
}

function parseList(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  if (words.includes("")) throw new InvalidArgumentError("Write the names with a comma between them.");
  return words;
}

function parseFaults(text: string): FaultOptions {
  return Object.assign({}, ...parseList(text).map(parseFault)) as FaultOptions;
}

function parseFault(word: string): FaultOptions {
  const [name = "", value = ""] = word.split("=");
  if (word === "loop") return { loop: true };
  if (name === "refuseFirst" && (value === "once" || value === "always")) return { refuseFirst: value };
  if (name === "seed" && /^\d+$/.test(value)) return { seed: Number(value) };
  if (["wrong", "invalidJson", "fails"].includes(name) && isFraction(value)) return { [name]: Number(value) };
  const [share = "", ms = ""] = value.split(":");
  if (name === "slow" && isFraction(share) && /^\d{1,7}$/.test(ms))
    return { slow: { share: Number(share), ms: Number(ms) } };
  throw new InvalidArgumentError(
    `${word} is no fault; write it as wrong=0.05,slow=0.1:500,seed=7,refuseFirst=once,loop.`,
  );
}

function isFraction(text: string): boolean {
  return /^(1|0|0?\.\d+)$/.test(text);
}
