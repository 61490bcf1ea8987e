/**
 * The `colloquy/testing` entry point exports conversations with agents for tests, and the rules for task stores.
 */
export type {
  Cassette,
  CassetteOptions,
  Conversation,
  ConversationTurn,
  ConverseOptions,
  ForkOptions,
  PrefixMessage,
  ToolCall,
} from "../studio/testing/index.ts";
export {
  assertCalls,
  converse,
  openCassette,
  runTrials,
  slowTool,
  toStableSnapshot,
} from "../studio/testing/index.ts";
export { TASK_STORE_RULES } from "../stores/testing/index.ts";
