import { createCardProtocol, type Evidence, PLANNER, type Recorder, SOLVER } from "../../cards/index.ts";
import {
  ANSWERER_ROUTES,
  type AnswererOptions,
  type AnyProtocol,
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
import type { Method } from "./method.ts";

export interface LineUpOptions {
  readonly method: Method;
  /** One for all roles, or one for each by its name: `planner`, `solver`. */
  readonly model: RoleModel | Readonly<Record<string, RoleModel>>;
  readonly planner?: PlannerOptions;
  readonly solver?: SolverOptions;
  readonly answerer?: Omit<AnswererOptions, "style" | "samples" | "name">;
  /** Roles that are served elsewhere, by their URLs. They record for themselves. */
  readonly links?: Readonly<Record<string, string>>;
  /** `apart` (default): a server for each role; `together`: one for all. */
  readonly servers?: "apart" | "together";
}

/** Everybody who takes part, at their places: real servers on loopback, and a controller that knows where they are. */
export interface LineUp {
  readonly controller: Controller;
  /** The role that problems are given to. */
  readonly to: string;
  close(): Promise<void>;
}

export async function openLineUp(options: LineUpOptions, recorder: Recorder): Promise<LineUp> {
  const { method, links = {}, servers = "apart" } = options;
  const protocol: AnyProtocol =
    method.kind === "a2a" ? createCardProtocol() : createCardProtocol({ routes: ANSWERER_ROUTES });
  const models = modelsOf(options);
  const here = Object.entries(rolesOf(options)).filter(([name]) => links[name] === undefined);
  const roles = Object.fromEntries(here.map(([name, role]) => [name, { role, model: models[name]! }]));
  const shared = { protocol, recorder, links };
  const served: ServedRoles | undefined =
    here.length > 0 ? await serveRoles({ roles, servers, ...shared }) : undefined;
  const controller = createController({ ...shared, links: { ...links, ...served?.urls } });
  return {
    controller,
    to: method.kind === "a2a" ? PLANNER : SOLVER,
    close: async () => served?.close({ graceMs: 0 }),
  };
}

/** The roles of a method, by their names. */
function rolesOf({ method, planner, solver, answerer }: LineUpOptions): Record<string, Role> {
  if (method.kind === "a2a")
    return {
      [PLANNER]: createPlanner({ ...planner, name: PLANNER }),
      [SOLVER]: createSolver({ ...solver, name: SOLVER }),
    };
  return { [SOLVER]: createAnswerer({ ...answerer, style: method.kind, samples: method.samples }) };
}

/** The model of each role that is served here. */
export function modelsOf({ method, model, links = {} }: LineUpOptions): Record<string, RoleModel> {
  const names = roleNames({ method }).filter((name) => links[name] === undefined);
  return Object.fromEntries(
    names.map((name) => {
      const own = "complete" in model ? (model as RoleModel) : model[name];
      if (!own) throw new RangeError(`The ${name} has no model; give one for it, or one for all.`);
      return [name, own];
    }),
  );
}

/** What stands behind a run's answers. Of different kinds it is a simulation: nobody's answers alone. */
export function evidenceOf(options: LineUpOptions): Evidence {
  const kinds = new Set(Object.values(modelsOf(options)).map(({ evidence }) => evidence));
  // Whose model nobody here knows is taken for a living one, which claims the least for an oracle.
  if (roleNames(options).some((name) => options.links?.[name] !== undefined)) kinds.add("live-model");
  const [only = "live-model"] = kinds;
  return kinds.size === 1 ? only : "simulated";
}

/** The roles that the method has. */
function roleNames({ method }: Pick<LineUpOptions, "method">): string[] {
  return method.kind === "a2a" ? [PLANNER, SOLVER] : [SOLVER];
}
