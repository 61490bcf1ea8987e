/**
 * Roles that exchange message cards over A2A: a controller, planners, and solvers. `src/cards` defines the
 * message cards, and `src/cards/roles` defines which role sends each type of card and when.
 */
export type { ModelReply, ModelRequest, StructuredModelInput, RoleModel } from "./role-model.ts";
export {
  type ContextDocument,
  createTaskContextFromDocuments,
  parseContextDocuments,
} from "./context-documents.ts";
export {
  createCassetteModel,
  type CassetteModelOptions,
  type CassetteStore,
  type FaultOptions,
  withFaults,
  type HotpotHeuristicOptions,
  createHotpotHeuristicModel,
  createOpenAiCompatibleModel,
  createOracleModel,
  createRequestLimit,
  type OpenAiCompatibleModelOptions,
  type RequestLimit,
  type OracleModelOptions,
  createRecordedGsm8kModel,
  type ModelScript,
  createScriptedModel,
  type ScriptedModelOptions,
  type ScriptedModelReply,
  type CassetteEntry,
} from "./models/index.ts";
export {
  type SubtaskDocumentContextPolicy,
  createPlanner,
  type ContextBuilder,
  type PlannerDispatchMode,
  type PlannerOptions,
} from "./planner/index.ts";
export {
  BASELINE_ANSWERER_CARD_ROUTES,
  type BaselineAnswererOptions,
  createBaselineAnswerer,
  createSolver,
  type SolverOptions,
} from "./solver/index.ts";
export type { TaskOutcome, QueryRequest, DelegationRequest, TaskContext, Role } from "./role.ts";
export {
  type AnyCardProtocol,
  createRoleAgent,
  type RoleAgentOptions,
  type RoleTarget,
} from "./a2a/index.ts";
export {
  type Controller,
  type ControllerOptions,
  createController,
  type ControllerSolveRequest,
  type ControllerSolveResult,
} from "./controller.ts";
export { type ServedRoles, serveRoles, type ServeRolesOptions } from "./serve-roles.ts";
export { createControllerAgent, type ControllerAgentOptions } from "./controller-agent.ts";

// Only other folders of `src` use these functions. No package entry exports them.
export { listInstructionPrompts } from "./list-instruction-prompts.ts";
export { isConfigurationStatus } from "./model-failure.ts";
export { parseAction } from "./planner/index.ts";
