/**
 * Roles that exchange message cards over A2A: a controller, planners, and solvers. `src/cards` defines the
 * message cards, and `src/cards/roles` defines which role sends each type of card and when.
 */
export * from "./public.ts";
export { createStatusUpdate } from "./controller.ts";
export {
  type ContextDocument,
  createTaskContextFromDocuments,
  parseContextDocuments,
} from "./context-documents.ts";
export { createRequestLimit, excludeDelays } from "./models/index.ts";
export type { AnyCardProtocol, RoleTarget } from "./a2a/role-runtime.ts";

// Only other folders of `src` use these functions. No package entry exports them.
export { listInstructionPrompts } from "./prompts.ts";
export { isConfigurationStatus } from "./role-model.ts";
export { parseAction } from "./planner-action.ts";
