/**
 * The `colloquy/testing` entry point exports conversations with agents for tests, and the rules for task stores.
 */
export type {
  Cassette,
  CassetteOptions,
  CallOrder,
  Conversation,
  ConversationTurn,
  ConverseOptions,
  ExpectedCall,
  ForkOptions,
  PrefixMessage,
  SimulatedUser,
  TokenUsage,
  ToolCall,
  TrialReport,
} from "../studio/testing/index.ts";
export {
  assertCalls,
  converse,
  openCassette,
  runTrials,
  slowTool,
  toStableSnapshot,
} from "../studio/testing/index.ts";
export { TASK_STORE_RULES, type TaskStoreRule } from "../stores/testing/index.ts";
