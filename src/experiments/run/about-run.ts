import { PLANNER, type RunSeen } from "../../cards/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { evidenceOf, type LineUpOptions, modelsOf } from "./line-up.ts";
import { nameOfMethod } from "./method.ts";
import type { ExperimentOptions } from "./run-experiment.ts";

/** What stands at the head of the record. Who goes on with the run must ask for the same. */
export function describeRun(options: ExperimentOptions & LineUpOptions, rule: string): RunSeen {
  const { dataset, method, planner = {}, deadlineMs = 120_000, code = "unknown" } = options;
  const models = Object.entries(modelsOf(options)).map(([role, { id }]) => [role, id] as const);
  const elsewhere = Object.entries(options.links ?? {}).map(([role, url]) => [role, placeOf(url)] as const);
  const model = Object.fromEntries([...models, ...elsewhere]);
  const name = nameOfMethod(method);
  const names = [...new Set(Object.values(model))].join("+");
  const seed = method.kind === "a2a" ? planner.seed : options.answerer?.seed;
  const { mode = "chained", context = "routed" } = planner;
  const isPlannerElsewhere = options.links?.[PLANNER] !== undefined;
  const further = furtherOptions(options);
  return {
    run_id: options.runId ?? fileName(`${dataset.name}-${name}-${names}-${dataset.samples.length}`),
    dataset: dataset.name,
    split: dataset.split,
    sample_ids: dataset.samples.map(({ id }) => id),
    method: name,
    ...(method.kind === "a2a" &&
      !isPlannerElsewhere && { mode, context: typeof context === "string" ? context : "custom" }),
    model,
    limits: limitsOf(options, deadlineMs),
    ...(Object.keys(further).length > 0 && { options: further }),
    evidence: evidenceOf(options),
    rule,
    code,
    ...(dataset.sha256 !== undefined && { data_sha256: dataset.sha256 }),
    ...(seed !== undefined && { seed }),
  };
}

/** Where a role is, without what lets one in there: it goes into files and their names. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return "elsewhere";
  const { origin, protocol, host, pathname } = new URL(url);
  return `${origin === "null" ? `${protocol}//${host}` : origin}${pathname === "/" ? "" : pathname}`;
}

/** What was given; what was not is as the planner has it for the dataset. */
function limitsOf({ method, planner = {}, links = {} }: LineUpOptions, deadlineMs: number): JsonObject {
  const isOurs = method.kind === "a2a" && links[PLANNER] === undefined;
  const { maxTurns, maxSolverCalls, tokenBudget } = isOurs ? planner : {};
  return {
    deadline_ms: deadlineMs,
    ...(maxTurns !== undefined && { max_turns: maxTurns }),
    ...(maxSolverCalls !== undefined && { max_solver_calls: maxSolverCalls }),
    ...(tokenBudget !== undefined && { token_budget: tokenBudget }),
  };
}

/** Those of roles that are served here, as they were given. */
function furtherOptions({ method, links = {}, ...options }: LineUpOptions): JsonObject {
  const names = method.kind === "a2a" ? (["planner", "solver"] as const) : (["answerer"] as const);
  const roles = names.map((name): [string, JsonObject] => {
    const isElsewhere = links[name === "answerer" ? "solver" : name] !== undefined;
    const given = isElsewhere ? [] : Object.entries(options[name] ?? {});
    return [name, Object.fromEntries(given.filter(([key, value]) => value !== undefined && !TOLD.has(key)))];
  });
  return Object.fromEntries(roles.filter(([, given]) => Object.keys(given).length > 0));
}

/** They have members of their own. */
const TOLD: ReadonlySet<string> = new Set([
  "mode",
  "context",
  "maxTurns",
  "maxSolverCalls",
  "tokenBudget",
  "seed",
]);

function fileName(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_.@+-]+/g, "-")
    .replaceAll(/[@+]/g, "_")
    .slice(0, 128);
}
