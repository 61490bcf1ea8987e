/**
 * The `colloquy/testing` entry point exports conversations with agents for tests, models for tests and rehearsals, and
 * the rules for task stores. The models need no model provider.
 */
export type {
  CassetteEntry,
  CassetteModelOptions,
  CassetteStore,
  FaultOptions,
  HotpotHeuristicOptions,
  ModelScript,
  OracleModelOptions,
  ScriptedModelOptions,
  ScriptedModelReply,
} from "../cards/roles/index.ts";
export {
  createCassetteModel,
  createHotpotHeuristicModel,
  createOracleModel,
  createRecordedGsm8kModel,
  createScriptedModel,
  withFaults,
} from "../cards/roles/index.ts";
export type {
  CallOrder,
  Conversation,
  ConversationTurn,
  ConverseOptions,
  ExpectedCall,
  SimulatedUser,
  TokenUsage,
  ToolCall,
  TrialReport,
} from "../studio/testing/index.ts";
export { assertCalls, converse, runTrials } from "../studio/testing/index.ts";
export { openCassetteFile } from "../cards/experiments/index.ts";
export { TASK_STORE_RULES, type TaskStoreRule } from "../stores/testing/index.ts";
