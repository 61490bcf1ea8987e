/**
 * The `colloquy/testing/adk` entry point exports a scripted model for tests of ADK agents. Requires
 * `@google/adk`.
 */
export type { Script, ScriptedLlmOptions, ScriptedReply } from "../agents/adk/models/index.ts";
export { ScriptedLlm } from "../agents/adk/models/index.ts";
