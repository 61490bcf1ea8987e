/**
 * AGENTS FOR THOSE WHO SPEAK NO A2A (`colloquy/openai`). `openaiFacade` makes agents models of OpenAI's chat API, beside a
 * server or by itself: what a client says becomes a message (`chat-request.ts`, `chat-parts.ts`), in the context of what
 * it has said before (`threads.ts`), and what the agent says becomes text (`answer.ts`, `completion.ts`).
 */
export type { Company } from "./company.ts";
export type { OpenaiFacade, OpenaiFacadeOptions } from "./openai-facade.ts";
export { openaiFacade } from "./openai-facade.ts";
