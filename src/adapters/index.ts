/**
 * Adapters that turn generators, command lines, and agents of other frameworks into A2A agents. `agent`
 * adapts an async generator, and `command` adapts a command line. Functions such as `status`, `artifact`, and
 * `inputRequired` create the values that a generator yields. `data`, `file`, and `text` create parts.
 */
export { data, file, text } from "../protocol/index.ts";
export { command } from "./command.ts";
export type { CommandOptions } from "./command.ts";
export { agent } from "./generator.ts";
export type { GeneratorOptions, Turn, AgentGenerator } from "./generator.ts";
export { artifact, authRequired, chunk, failed, inputRequired, reply, status } from "./agent-yield.ts";
export type { PartLike, AgentYield } from "./agent-yield.ts";
