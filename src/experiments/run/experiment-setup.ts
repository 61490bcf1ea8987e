import {
  createCardProtocol,
  type EvidenceKind,
  PLANNER,
  type CardRecorder,
  SOLVER,
} from "../../cards/index.ts";
import {
  ANSWERER_ROUTES,
  type AnswererOptions,
  type AnyCardProtocol,
  type Controller,
  createAnswerer,
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
import type { ExperimentMethod } from "./experiment-method.ts";

export interface ExperimentSetupOptions {
  readonly method: ExperimentMethod;
  /** One for all roles, or one for each by its name: `planner`, `solver`. */
  readonly model: RoleModel | Readonly<Record<string, RoleModel>>;
  readonly planner?: PlannerOptions;
  readonly solver?: SolverOptions;
  readonly answerer?: Omit<AnswererOptions, "style" | "samples" | "name">;
  /** Roles that are served elsewhere, by their URLs. They record for themselves. */
  readonly roleUrls?: Readonly<Record<string, string>>;
  /** `apart` (default): a server for each role; `together`: one for all. */
  readonly serverLayout?: "apart" | "together";
}

/** Everybody who takes part, at their places: real servers on loopback, and a controller that knows where they are. */
export interface ExperimentSetup {
  readonly controller: Controller;
  /** The role that problems are given to. */
  readonly entryRole: string;
  close(): Promise<void>;
}

export async function startExperimentSetup(
  options: ExperimentSetupOptions,
  recorder: CardRecorder,
): Promise<ExperimentSetup> {
  const { method, roleUrls = {}, serverLayout = "apart" } = options;
  const protocol: AnyCardProtocol =
    method.kind === "a2a" ? createCardProtocol() : createCardProtocol({ routes: ANSWERER_ROUTES });
  const models = resolveModels(options);
  const localRoles = Object.entries(createRoles(options)).filter(([name]) => roleUrls[name] === undefined);
  const roles = Object.fromEntries(localRoles.map(([name, role]) => [name, { role, model: models[name]! }]));
  const shared = { protocol, recorder, roleTargets: roleUrls };
  const served: ServedRoles | undefined =
    localRoles.length > 0 ? await serveRoles({ roles, serverLayout, ...shared }) : undefined;
  const controller = createController({ ...shared, roleTargets: { ...roleUrls, ...served?.urls } });
  return {
    controller,
    entryRole: method.kind === "a2a" ? PLANNER : SOLVER,
    close: async () => served?.close({ graceMs: 0 }),
  };
}

/** The roles of a method, by their names. */
function createRoles({ method, planner, solver, answerer }: ExperimentSetupOptions): Record<string, Role> {
  if (method.kind === "a2a")
    return {
      [PLANNER]: createPlanner({ ...planner, name: PLANNER }),
      [SOLVER]: createSolver({ ...solver, name: SOLVER }),
    };
  return { [SOLVER]: createAnswerer({ ...answerer, style: method.kind, samples: method.samples }) };
}

/** The model of each role that is served here. */
export function resolveModels({
  method,
  model,
  roleUrls = {},
}: ExperimentSetupOptions): Record<string, RoleModel> {
  const names = listRoleNames({ method }).filter((name) => roleUrls[name] === undefined);
  return Object.fromEntries(
    names.map((name) => {
      const roleModel = "complete" in model ? (model as RoleModel) : model[name];
      if (!roleModel) throw new RangeError(`The ${name} has no model; give one for it, or one for all.`);
      return [name, roleModel];
    }),
  );
}

/** What stands behind a run's answers. Of different kinds it is a simulation: nobody's answers alone. */
export function resolveEvidence(options: ExperimentSetupOptions): EvidenceKind {
  const kinds = new Set(Object.values(resolveModels(options)).map(({ evidenceKind }) => evidenceKind));
  // Whose model nobody here knows is taken for a living one, which claims the least for an oracle.
  if (listRoleNames(options).some((name) => options.roleUrls?.[name] !== undefined)) kinds.add("live-model");
  const [only = "live-model"] = kinds;
  return kinds.size === 1 ? only : "simulated";
}

/** The roles that the method has. */
function listRoleNames({ method }: Pick<ExperimentSetupOptions, "method">): string[] {
  return method.kind === "a2a" ? [PLANNER, SOLVER] : [SOLVER];
}
