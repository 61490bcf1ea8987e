/**
 * Conversations with agents for tests. `converse` talks to an agent in the process or behind a URL, and keeps what
 * happened in each turn: states, answer, questions, artifacts, and the calls of models and tools.
 */
export { assertCalls, type CallOrder, type ExpectedCall, isExpectedOrder } from "./assert-calls.ts";
export {
  Conversation,
  type ConverseOptions,
  converse,
  type ForkOptions,
  type SimulatedUser,
} from "./converse.ts";
export { type ConversationTurn, type TokenUsage, TurnCollector } from "./conversation-turn.ts";
export type { ToolCall } from "./tool-calls.ts";
export { runTrials, type TrialReport } from "./run-trials.ts";
export { type Cassette, type CassetteOptions, openCassette } from "./cassette.ts";
export { slowTool } from "./faults.ts";
export type { PrefixMessage } from "./import-turns.ts";
export { toStableSnapshot } from "./stable-snapshot.ts";
