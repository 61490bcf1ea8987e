/**
 * Adapters that turn generators, command lines, and agents of other frameworks into A2A agents. `agent`
 * adapts an async generator, and `command` adapts a command line. Functions such as `status`, `artifact`, and
 * `inputRequired` create the values that a generator yields. `data`, `file`, and `text` create parts.
 */
export { data, file, text } from "../../protocol/index.ts";
export { command } from "./command-agent.ts";
export type { CommandOptions } from "./command-agent.ts";
export type { ConversationKey, ConversationStore } from "./conversation-store.ts";
export { createPostgresConversationStore } from "./postgres-conversation-store.ts";
export type { PostgresConversationStoreOptions } from "./postgres-conversation-store.ts";
export { agent } from "./generator-agent.ts";
export type { GeneratorOptions, Turn, AgentGenerator } from "./generator-agent.ts";
export { artifact, authRequired, chunk, failed, inputRequired, reply, status } from "./agent-yield.ts";
export type { PartOrText, AgentYield } from "./agent-yield.ts";
