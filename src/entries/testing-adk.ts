/**
 * The `colloquy/testing/adk` entry: a scripted model for ADK agents in tests. Requires `@google/adk`.
 */
export type {
  Script,
  ScriptedLlmOptions,
  ScriptedReply,
  ScriptedStep,
  ScriptInput,
} from "../adk/models/index.ts";
export { ScriptedLlm } from "../adk/models/index.ts";
