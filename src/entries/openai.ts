/**
 * The `colloquy/openai` entry point converts an OpenAI-compatible endpoint to an agent, and serves agents as
 * models of an OpenAI-compatible API.
 */
export type {
  ChatMessage,
  ConversationKey,
  ConversationStore,
  OpenAiOptions,
} from "../adapters/openai/index.ts";
export { encodeConversationKey, fromOpenAi } from "../adapters/openai/index.ts";
export type { CallerWithAgents, OpenAiFacade, OpenAiFacadeOptions } from "../openai-facade/index.ts";
export { createOpenAiFacade } from "../openai-facade/index.ts";
