/**
 * ROLES AT WORK: a controller, planners and solvers that speak in cards over A2A. `cards/` is what they say; here is who
 * says it, when, and to whom. What only other rooms need is in `internal.ts`.
 */
export type {
  AnswerStep,
  Finding,
  ModelMessage,
  ModelReply,
  ModelRequest,
  ModelStep,
  PlanStep,
  RoleModel,
  SolveStep,
} from "./model.ts";
export { type Document, documentsContext, documentsOf } from "./documents.ts";
export {
  cassette,
  type CassetteOptions,
  type CassetteStore,
  type Faults,
  faulty,
  type HeuristicOptions,
  heuristicHotpot,
  oracle,
  type OracleOptions,
  recorded,
  type RoleScript,
  scripted,
  type ScriptedOptions,
  type ScriptReply,
  type Take,
} from "./models/index.ts";
export {
  type ContextPolicy,
  createPlanner,
  type CustomContext,
  type PlannerMode,
  type PlannerOptions,
} from "./planner/index.ts";
export {
  ANSWERER_ROUTES,
  type AnswererOptions,
  createAnswerer,
  createSolver,
  type SolverOptions,
} from "./solver/index.ts";
export type { Answer, Asked, Delegated, Desk, QueryAnswer, Role } from "./role.ts";
export {
  type AnyProtocol,
  type LinkOptions,
  type OfficeOptions,
  roleAgent,
  type RoleOptions,
  type Where,
} from "./a2a/index.ts";
export {
  type Controller,
  type ControllerOptions,
  createController,
  type Problem,
  type Solution,
} from "./controller.ts";
export { type ServedRole, type ServedRoles, serveRoles, type ServeRolesOptions } from "./serve.ts";
export { controllerAgent, type ControllerAgentOptions } from "./controller-agent.ts";

// Used by other rooms only; no entry exports it.
export { understand } from "./planner/index.ts";
export { answerIn } from "./solver/index.ts";
