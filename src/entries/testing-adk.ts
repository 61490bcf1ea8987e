/** The `colloquy/testing/adk` entry: a scripted model for ADK agents in tests. Requires `@google/adk`. */
export {
  type Script,
  type ScriptInput,
  ScriptedLlm,
  type ScriptedLlmOptions,
  type ScriptedReply,
  type ScriptedStep,
} from "../adk/models/index.ts";
