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
} from "../../roles/index.ts";
import type { Clock } from "../../../engine/index.ts";
import type { TrafficWriter } from "../../../observe/trace/recording/index.ts";
import type { ExperimentMethod } from "./experiment-method.ts";

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
export function resolveRunEvidenceKind(options: ExperimentRoleOptions): AnswerSourceKind {
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
