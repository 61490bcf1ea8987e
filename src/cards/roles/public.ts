/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export type { ModelReply, ModelRequest, StructuredModelInput, RoleModel } from "./role-model.ts";
export type {
  AiSdkLanguageModel,
  AiSdkModelOptions,
  CassetteEntry,
  CassetteModelOptions,
  CassetteStore,
  FaultOptions,
  ModelScript,
  OpenAiCompatibleModelOptions,
  OracleModelOptions,
  ScriptedModelOptions,
  ScriptedModelReply,
} from "./models/index.ts";
export {
  createAiSdkModel,
  createCassetteModel,
  createOpenAiCompatibleModel,
  createOracleModel,
  createScriptedModel,
  withFaults,
} from "./models/index.ts";
export type { SubtaskContextPolicy } from "./context-documents.ts";
export { createPlanner, type PlannerOptions } from "./planner.ts";
export {
  BASELINE_ANSWERER_CARD_ROUTES,
  type BaselineAnswererOptions,
  createBaselineAnswerer,
  createSolver,
  type SolverOptions,
} from "./solver.ts";
export type { TaskOutcome, QueryRequest, DelegationRequest, TaskContext, Role } from "./role.ts";
export { createRoleAgent, type RoleAgentOptions } from "./a2a/role-agent.ts";
export {
  type Controller,
  type ControllerOptions,
  createController,
  type ControllerSolveRequest,
  type ControllerSolveResult,
  type PreparedProblem,
} from "./controller.ts";
export { type ServedRoles, serveRoles, type ServeRolesOptions } from "./serve-roles.ts";
export { createControllerAgent, type ControllerAgentOptions } from "./controller.ts";
