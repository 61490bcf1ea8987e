/**
 * MODELS BEHIND `/v1/chat/completions`, whoever serves them, as agents: OpenAI, Ollama, vLLM, LM Studio, OpenRouter …
 * `fromOpenAi({ baseUrl, model })` needs no package.
 */
export { encodeConversationKey, getConversationKey } from "../conversation-store.ts";
export type { ConversationKey, ConversationStore } from "../conversation-store.ts";
export type { OpenAiOptions } from "./agent.ts";
export { fromOpenAi } from "./agent.ts";
export type { ChatMessage } from "./messages.ts";
