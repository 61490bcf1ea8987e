/**
 * OTHER THINGS AS AGENTS, one file each. `agent` turns an async generator into an agent, `command` a command line.
 * The makers (`status`, `artifact`, `inputRequired` …) are the words of a generator; `data`, `file` and `text` make
 * the parts that they and the generator take.
 */
export { data, file, text } from "../protocol/index.ts";
export { command } from "./command.ts";
export type { CommandOptions } from "./command.ts";
export { agent } from "./generator.ts";
export type { GeneratorOptions, Turn, AgentGenerator } from "./generator.ts";
export { artifact, authRequired, chunk, failed, inputRequired, reply, status } from "./agent-yield.ts";
export type { ArtifactOptions, ArtifactChunk, PartLike, AgentYield } from "./agent-yield.ts";
