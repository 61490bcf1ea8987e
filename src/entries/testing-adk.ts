/** The `colloquy/testing/adk` entry: a scripted model for ADK agents in tests. Requires `@google/adk`. */
export {
  type Script,
  type ScriptedAsk,
  ScriptedLlm,
  type ScriptedOptions,
  type ScriptedReply,
  type ScriptedStep,
} from "../adk/models/index.ts";
