/**
 * THE AI SDK, both ways. `fromAiSdk` makes an agent of an AI SDK agent (`ToolLoopAgent`) or of a function that calls
 * `streamText`; `a2aTool` makes a tool of any A2A agent. The package `ai` (7) is yours to install.
 */
export { encodeConversationKey, getConversationKey } from "../conversation-store.ts";
export type { ConversationKey, ConversationStore } from "../conversation-store.ts";
export type { AiSdkAgent, AiSdkCallOptions, AiSdkOptions, AiSdkResult } from "./agent.ts";
export { fromAiSdk } from "./agent.ts";
export type { A2aToolOptions } from "./tool.ts";
export { a2aTool } from "./tool.ts";
