/**
 * The `colloquy/adk` entry point serves ADK agents over A2A, and makes remote A2A agents available to ADK
 * agents. `ScriptedLlm` is a model for tests and demos. Requires `@google/adk`.
 */
export * from "../agents/adk/public.ts";
export {
  type Script,
  ScriptedLlm,
  type ScriptedLlmOptions,
  type ScriptedReply,
} from "../agents/adk/models/index.ts";
