/**
 * The `colloquy/ai-sdk` entry point converts AI SDK agents to A2A agents, and A2A agents to AI SDK tools.
 * Requires `ai`.
 */
export type {
  A2aToolOptions,
  AiSdkAgent,
  AiSdkCallOptions,
  AiSdkOptions,
  AiSdkResult,
  ConversationKey,
  ConversationStore,
  RunWithSteps,
} from "../adapters/ai-sdk/index.ts";
export {
  a2aTool,
  durable,
  durableTools,
  encodeConversationKey,
  fromAiSdk,
} from "../adapters/ai-sdk/index.ts";
