import {
  createCardProtocol,
  type AnswerSourceKind,
  PLANNER,
  type CardRecorder,
  SOLVER,
} from "../../index.ts";
import {
  BASELINE_ANSWERER_CARD_ROUTES,
  type BaselineAnswererOptions,
  type AnyCardProtocol,
  type Controller,
  createBaselineAnswerer,
  createController,
  createPlanner,
  createSolver,
  type PlannerOptions,
  type Role,
  type RoleModel,
  serveRoles,
  type ServedRoles,
  type SolverOptions,
  listInstructionPrompts,
} from "../../roles/index.ts";
import type { Clock } from "../../../engine/index.ts";
import type { TrafficWriter } from "../../../observe/trace/recording/index.ts";
import { createHash } from "node:crypto";
import { omitUndefined } from "../../../base/usage-checks/index.ts";
import type { Dataset } from "../read-dataset.ts";
import type { RunRecordInput } from "../recorder/index.ts";
import type { JsonObject } from "../../../protocol/index.ts";

/** Options for the roles of an experiment. */
export interface ExperimentRoleOptions {
  /** Method that solves the problems. */
  readonly method: ExperimentMethod;
  /** Model for all roles, or an object that maps each role name to a model. */
  readonly model: RoleModel | Readonly<Record<string, RoleModel>>;
  readonly planner?: PlannerOptions;
  readonly solver?: SolverOptions;
  /** Options for the answerer, which solves problems with the methods `cot` and `direct`. */
  readonly answerer?: Omit<BaselineAnswererOptions, "style" | "samples" | "rounds" | "name">;
  /** URLs of remote roles by role name. Remote roles write their own recordings. */
  readonly roleUrls?: Readonly<Record<string, string>>;
  /**
   * Whether each role has its own server (`apart`, the default) or all roles share one server (`together`).
   */
  readonly serverLayout?: "apart" | "together";
}

/**
 * The controller and the running roles of an experiment. The roles listen on HTTP servers on the loopback
 * interface.
 */
interface RunningExperimentRoles {
  readonly controller: Controller;
  /** Role that receives the problems from the controller. */
  readonly entryRole: string;
  /** Stops the servers of all roles. */
  close(): Promise<void>;
}

/** Starts the roles of an experiment and creates the controller. `record` records their requests to each other. */
export async function startExperimentRoles(
  options: ExperimentRoleOptions,
  recorder: CardRecorder,
  record: TrafficWriter,
  clock: Clock,
): Promise<RunningExperimentRoles> {
  const { method, roleUrls = {}, serverLayout = "apart" } = options;
  const protocol: AnyCardProtocol =
    method.kind === "a2a"
      ? createCardProtocol()
      : createCardProtocol({ routes: BASELINE_ANSWERER_CARD_ROUTES });
  const models = resolveRoleModels(options);
  const localRoles = Object.entries(createRoles(options)).filter(([name]) => roleUrls[name] === undefined);
  const roles = Object.fromEntries(localRoles.map(([name, role]) => [name, { role, model: models[name]! }]));
  const shared = { protocol, recorder, roleTargets: roleUrls, connectOptions: { record } };
  const served: ServedRoles | undefined =
    localRoles.length > 0 ? await serveRoles({ roles, serverLayout, ...shared }) : undefined;
  const controller = createController({ ...shared, clock, roleTargets: { ...roleUrls, ...served?.urls } });
  return {
    controller,
    entryRole: method.kind === "a2a" ? PLANNER : SOLVER,
    close: async () => served?.close({ graceMs: 0 }),
  };
}

function createRoles({ method, planner, solver, answerer }: ExperimentRoleOptions): Record<string, Role> {
  if (method.kind === "a2a")
    return {
      [PLANNER]: createPlanner({ ...planner, name: PLANNER }),
      [SOLVER]: createSolver({ ...solver, name: SOLVER }),
    };
  if (method.kind === "role") return { [SOLVER]: { ...method.role, name: SOLVER } };
  const { kind: style, samples, rounds = 1 } = method;
  return { [SOLVER]: createBaselineAnswerer({ ...answerer, style, samples, rounds }) };
}

/** Returns the model of each local role. Throws a `RangeError` if a role has no model. */
export function resolveRoleModels({
  method,
  model,
  roleUrls = {},
}: ExperimentRoleOptions): Record<string, RoleModel> {
  const names = listRoleNamesForMethod({ method }).filter((name) => roleUrls[name] === undefined);
  return Object.fromEntries(
    names.map((name) => {
      const roleModel = "complete" in model ? (model as RoleModel) : model[name];
      if (!roleModel)
        throw new RangeError(`The ${name} has no model. Set one for this role, or one for all roles.`);
      return [name, roleModel];
    }),
  );
}

/**
 * Returns the kind of evidence that an experiment run produces. If the models produce different kinds of
 * evidence, the run has the kind `simulated`.
 */
function resolveRunEvidenceKind(options: ExperimentRoleOptions): AnswerSourceKind {
  const kinds = new Set(Object.values(resolveRoleModels(options)).map(({ evidenceKind }) => evidenceKind));
  // The model of a remote role is unknown. It counts as a live model, so a mix with an oracle is reported as
  // simulated.
  if (listRoleNamesForMethod(options).some((name) => options.roleUrls?.[name] !== undefined))
    kinds.add("live-model");
  const [only = "live-model"] = kinds;
  return kinds.size === 1 ? only : "simulated";
}

function listRoleNamesForMethod({ method }: Pick<ExperimentRoleOptions, "method">): string[] {
  return method.kind === "a2a" ? [PLANNER, SOLVER] : [SOLVER];
}

/**
 * Method that solves problems: with a planner and a solver (`a2a`), with a single role that answers the complete
 * problem, or with your own role.
 */
export type ExperimentMethod =
  | { readonly kind: "a2a" }
  | {
      readonly kind: "cot" | "direct";
      /** Number of answers per problem. The result is the most frequent of the answers. */
      readonly samples: number;
      /** Number of rounds of a debate, in which each answer can change after the others are known. Default: 1. */
      readonly rounds?: number;
    }
  | {
      readonly kind: "role";
      /** Name of the method in recordings. */
      readonly name: string;
      /** Role that receives each complete problem. */
      readonly role: Role;
    };

/**
 * Parses the method name `a2a`, `cot`, `direct`, `cot-sc@k`, `direct-sc@k`, or `debate@k`, where k is an integer from 2
 * to 100. A debate has two rounds of k chains of thought. Throws a `RangeError` if the method name is unknown.
 */
export function parseExperimentMethod(name: string): ExperimentMethod {
  if (name === "a2a") return { kind: "a2a" };
  const [, word = "", votes] = /^(cot|direct|cot-sc|direct-sc|debate)(?:@([1-9]\d{0,2}))?$/.exec(name) ?? [];
  const samples = Number(votes ?? 1);
  if (votes === undefined && (word === "cot" || word === "direct")) return { kind: word, samples };
  if (samples > 1 && samples <= 100) {
    if (word === "cot-sc" || word === "direct-sc")
      return { kind: word === "cot-sc" ? "cot" : "direct", samples };
    if (word === "debate") return { kind: "cot", samples, rounds: 2 };
  }
  throw new RangeError(
    `${JSON.stringify(name)} is not a method. Use a2a, cot, direct, cot-sc@k, direct-sc@k, or debate@k with k from 2 to 100.`,
  );
}

/** Returns the name of a method, such as `cot-sc@5`. */
export function formatExperimentMethod(method: ExperimentMethod): string {
  if (method.kind === "a2a") return "a2a";
  if (method.kind === "role") return method.name;
  if (method.rounds !== undefined && method.rounds > 1) return `debate@${method.samples}`;
  return method.samples === 1 ? method.kind : `${method.kind}-sc@${method.samples}`;
}

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
  const { dataset, method, deadlineMs = 120_000, codeVersion = "unknown", roleUrls = {} } = options;
  const localModels = Object.entries(resolveRoleModels(options));
  const model = Object.fromEntries([
    ...localModels.map(([role, { id }]) => [role, id] as const),
    ...Object.entries(roleUrls).map(([role, url]) => [role, redactUrl(url)] as const),
  ]);
  const servers = localModels.flatMap(([role, { server }]) =>
    server === undefined ? [] : [[role, redactUrl(server)] as const],
  );
  const name = formatExperimentMethod(method);
  const names = [...new Set(Object.values(model))]
    .map((id) => id.replace(/^(?:anthropic|gemini|ollama|openai):/, ""))
    .join("+");
  const seed = method.kind === "a2a" ? options.planner?.seed : options.answerer?.seed;
  const isPlannerLocal = method.kind === "a2a" && roleUrls[PLANNER] === undefined;
  const { context = "routed", maxTurns, tokenBudget } = (isPlannerLocal && options.planner) || {};
  const roleOptions = collectRoleOptions(options);
  return {
    run_id:
      options.runId ??
      toFileName(`${dataset.name}_${name}_${names}${seed === undefined ? "" : `_seed${seed}`}`),
    dataset: dataset.name,
    split: dataset.split,
    sample_ids: dataset.samples.map(({ id }) => id),
    method: name,
    ...(isPlannerLocal && { context }),
    model,
    limits: omitUndefined({ deadline_ms: deadlineMs, max_turns: maxTurns, token_budget: tokenBudget }),
    ...(Object.keys(roleOptions).length > 0 && { options: roleOptions }),
    evidence: resolveRunEvidenceKind(options),
    rule,
    code: codeVersion,
    ...omitUndefined({ data_sha256: dataset.sha256, seed }),
    ...(servers.length > 0 && { servers: Object.fromEntries(servers) }),
    prompts_sha256: createHash("sha256").update(listInstructionPrompts(options).join("\0")).digest("hex"),
  };
}

/** Returns the explicitly set options of the local roles that are no separate members of the run line. */
function collectRoleOptions({ method, roleUrls = {}, ...options }: ExperimentRoleOptions): JsonObject {
  const names = method.kind === "a2a" ? (["planner", "solver"] as const) : (["answerer"] as const);
  return Object.fromEntries(
    names.flatMap((name) => {
      const { seed: _seed, ...own } = options[name] ?? {};
      const others = { ...own, context: undefined, maxTurns: undefined, tokenBudget: undefined };
      const isElsewhere = roleUrls[name === "answerer" ? SOLVER : name] !== undefined;
      const kept = omitUndefined(others) as JsonObject;
      return isElsewhere || Object.keys(kept).length === 0 ? [] : [[name, kept]];
    }),
  );
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

/** Replaces the characters of a text that a run ID may not contain. */
export function toFileName(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_.@+-]+/g, "-")
    .replaceAll(/[@+]/g, "_")
    .slice(0, 128);
}
