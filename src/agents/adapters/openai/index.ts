/**
 * Adapter for models behind `/v1/chat/completions`, such as OpenAI, Ollama, vLLM, LM Studio, and OpenRouter.
 * `fromOpenAi({ baseUrl, model })` requires no additional package.
 */
export type { OpenAiOptions } from "./agent.ts";
export { fromOpenAi } from "./agent.ts";
export type { ChatMessage } from "./messages.ts";
