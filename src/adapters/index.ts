/**
 * OTHER THINGS AS AGENTS, one file each. `agent` turns an async generator into an agent, `command` a command line.
 * The makers (`status`, `artifact`, `inputRequired` …) are the words of a generator; `data`, `file` and `text` make
 * the parts that they and the generator take.
 */
export { data, file, text } from "../protocol/index.ts";
export { command } from "./command.ts";
export type { CommandOptions } from "./command.ts";
export { agent } from "./generator.ts";
export type { GeneratorOptions, Turn, Work } from "./generator.ts";
export { artifact, authRequired, chunk, failed, inputRequired, reply, status } from "./say.ts";
export type { ArtifactAbout, Chunk, Content, Said } from "./say.ts";
