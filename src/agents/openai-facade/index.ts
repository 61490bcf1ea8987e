/**
 * A façade that serves agents as models of OpenAI's chat API (`colloquy/openai`). The façade of
 * `createOpenAiFacade` runs standalone or on an A2A server.
 *
 * A chat request becomes an A2A message (`chat-request.ts`, `chat-parts.ts`) in the A2A context of the
 * conversation (`conversation-index.ts`). The agent's answer becomes text (`answer-accumulator.ts`,
 * `completion-encoder.ts`).
 */
export type { OpenAiFacadeOptions } from "./openai-facade.ts";
export { createOpenAiFacade } from "./openai-facade.ts";
