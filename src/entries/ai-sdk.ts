/**
 * The `colloquy/ai-sdk` entry: AI SDK agents as A2A agents, and A2A agents as AI SDK tools. Requires `ai`.
 */
export type {
  A2aToolOptions,
  AiSdkAgent,
  AiSdkCallOptions,
  AiSdkOptions,
  AiSdkResult,
  ConversationKey,
  ConversationStore,
} from "../adapters/ai-sdk/index.ts";
export { a2aTool, encodeConversationKey, fromAiSdk } from "../adapters/ai-sdk/index.ts";
