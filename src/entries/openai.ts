/**
 * The `colloquy/openai` entry: OpenAI-compatible endpoints as agents, and agents as models of an OpenAI-compatible
 * endpoint.
 */
export type {
  ChatMessage,
  ConversationKey,
  ConversationStore,
  OpenAiOptions,
} from "../adapters/openai/index.ts";
export { encodeConversationKey, fromOpenAi } from "../adapters/openai/index.ts";
export type { CallerAgents, OpenAiFacade, OpenAiFacadeOptions } from "../openai-facade/index.ts";
export { createOpenAiFacade } from "../openai-facade/index.ts";
