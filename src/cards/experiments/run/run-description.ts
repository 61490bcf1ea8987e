import { createHash } from "node:crypto";
import { omitUndefined } from "../../../base/usage-checks/index.ts";
import { PLANNER } from "../../index.ts";
import type { Dataset } from "../data/index.ts";
import type { RunRecordInput } from "../recorder/index.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import { listInstructionPrompts } from "../../roles/index.ts";
import { resolveRunEvidenceKind, type ExperimentRoleOptions, resolveRoleModels } from "./experiment-roles.ts";
import { formatExperimentMethod } from "./experiment-method.ts";

/** The options of an experiment that its description contains. */
interface DescribedOptions extends ExperimentRoleOptions {
  readonly dataset: Dataset;
  readonly runId?: string;
  readonly deadlineMs?: number;
  readonly codeVersion?: string;
}

/**
 * Creates the description of an experiment run for the run line. A resumed run must have the same description
 * as the original run.
 */
export function buildRunDescription(options: DescribedOptions, rule: string): RunRecordInput {
  const { dataset, method, planner = {}, deadlineMs = 120_000, codeVersion = "unknown" } = options;
  const localModels = Object.entries(resolveRoleModels(options));
  const model = Object.fromEntries([
    ...localModels.map(([role, { id }]) => [role, id] as const),
    ...Object.entries(options.roleUrls ?? {}).map(([role, url]) => [role, redactUrl(url)] as const),
  ]);
  const servers = localModels.flatMap(([role, { server }]) =>
    server === undefined ? [] : [[role, redactUrl(server)] as const],
  );
  const name = formatExperimentMethod(method);
  const names = [...new Set(Object.values(model))]
    .map((id) => id.replace(/^(?:anthropic|gemini|ollama|openai):/, ""))
    .join("+");
  const seed = method.kind === "a2a" ? planner.seed : options.answerer?.seed;
  const { mode = "chained", context = "routed" } = planner;
  const isPlannerElsewhere = options.roleUrls?.[PLANNER] !== undefined;
  const roleOptions = collectLocalRoleOptionsForRunRecord(options);
  return {
    run_id:
      options.runId ??
      toFileName(`${dataset.name}_${name}_${names}${seed === undefined ? "" : `_seed${seed}`}`),
    dataset: dataset.name,
    split: dataset.split,
    sample_ids: dataset.samples.map(({ id }) => id),
    method: name,
    ...(method.kind === "a2a" &&
      !isPlannerElsewhere && { mode, context: typeof context === "string" ? context : "custom" }),
    model,
    limits: collectLimits(options, deadlineMs),
    ...(Object.keys(roleOptions).length > 0 && { options: roleOptions }),
    evidence: resolveRunEvidenceKind(options),
    rule,
    code: codeVersion,
    ...omitUndefined({ data_sha256: dataset.sha256, seed }),
    ...(servers.length > 0 && { servers: Object.fromEntries(servers) }),
    prompts_sha256: createHash("sha256").update(listInstructionPrompts(options).join("\0")).digest("hex"),
  };
}

/**
 * Removes credentials, the query, and the fragment from a URL, because record files and their names can
 * contain the URL.
 */
function redactUrl(url: string): string {
  if (!URL.canParse(url)) return "elsewhere";
  const { origin, protocol, host, pathname } = new URL(url);
  return `${origin === "null" ? `${protocol}//${host}` : origin}${pathname === "/" ? "" : pathname}`;
}

/**
 * Returns the explicitly set limits of the run. For limits that were not set, the planner uses the defaults
 * of the dataset.
 */
function collectLimits(
  { method, planner = {}, roleUrls = {} }: ExperimentRoleOptions,
  deadlineMs: number,
): JsonObject {
  const isPlannerLocal = method.kind === "a2a" && roleUrls[PLANNER] === undefined;
  const { maxTurns, maxSolverCalls, tokenBudget } = isPlannerLocal ? planner : {};
  return omitUndefined({
    deadline_ms: deadlineMs,
    max_turns: maxTurns,
    max_solver_calls: maxSolverCalls,
    token_budget: tokenBudget,
  });
}

/** Returns the explicitly set options of the local roles. */
function collectLocalRoleOptionsForRunRecord({
  method,
  roleUrls = {},
  ...options
}: ExperimentRoleOptions): JsonObject {
  const names = method.kind === "a2a" ? (["planner", "solver"] as const) : (["answerer"] as const);
  return Object.fromEntries(
    names.flatMap((name) => {
      const isElsewhere = roleUrls[name === "answerer" ? "solver" : name] !== undefined;
      const own = Object.entries(omitUndefined(options[name] ?? {}) as JsonObject).filter(
        ([key]) => !isElsewhere && !ROLE_OPTIONS_WITH_OWN_RUN_RECORD_FIELD.has(key),
      );
      return own.length > 0 ? [[name, Object.fromEntries(own)]] : [];
    }),
  );
}

/** Names of the role options that are separate members in the run line. */
const ROLE_OPTIONS_WITH_OWN_RUN_RECORD_FIELD: ReadonlySet<string> = new Set([
  "mode",
  "context",
  "maxTurns",
  "maxSolverCalls",
  "tokenBudget",
  "seed",
]);

/** Replaces the characters of a text that a run ID may not contain. */
export function toFileName(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_.@+-]+/g, "-")
    .replaceAll(/[@+]/g, "_")
    .slice(0, 128);
}
