/**
 * ROLES AT WORK: a controller, planners and solvers that speak in cards over A2A. `cards/` is what they say; here is who
 * says it, when, and to whom.
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
export * from "./models/index.ts";
export * from "./planner/index.ts";
export * from "./solver/index.ts";
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
