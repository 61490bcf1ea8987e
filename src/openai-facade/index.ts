/**
 * AGENTS FOR THOSE WHO SPEAK NO A2A (`colloquy/openai`). `createOpenAiFacade` makes agents models of OpenAI's chat API, beside a
 * server or by itself: what a client says becomes a message (`chat-request.ts`, `chat-parts.ts`), in the context of what
 * it has said before (`threads.ts`), and what the agent says becomes text (`answer.ts`, `completion.ts`).
 */
export type { CallerAgents } from "./agent-directory.ts";
export type { OpenAiFacade, OpenAiFacadeOptions } from "./openai-facade.ts";
export { createOpenAiFacade } from "./openai-facade.ts";
