/**
 * Adapters that turn generators, command lines, and agents of other frameworks into A2A agents. `agent`
 * adapts an async generator, and `command` adapts a command line. Functions such as `status`, `artifact`, and
 * `inputRequired` create the values that a generator yields. `data`, `file`, and `text` create parts.
 */
export { data, file, text } from "../../protocol/index.ts";
export * from "./public.ts";
export type { AgentGenerator } from "./generator-agent.ts";
export type { PartOrText } from "./agent-yield.ts";
