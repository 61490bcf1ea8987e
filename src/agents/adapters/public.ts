/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export { command } from "./command-agent.ts";
export type { CommandOptions } from "./command-agent.ts";
export { encodeConversationKey, type ConversationKey, type ConversationStore } from "./conversation-store.ts";
export { createPostgresConversationStore } from "./postgres-conversation-store.ts";
export type { PostgresConversationStoreOptions } from "./postgres-conversation-store.ts";
export { agent } from "./generator-agent.ts";
export type { GeneratorOptions, Turn } from "./generator-agent.ts";
export { artifact, authRequired, chunk, failed, inputRequired, reply, status } from "./agent-yield.ts";
export type { AgentYield } from "./agent-yield.ts";
