/** Models for ADK agents: a scripted model for tests and demos, and any AI SDK model. */
export { AiSdkLlm } from "./ai-sdk-llm.ts";
export { createModel } from "./create-model.ts";
export type {
  Script,
  ScriptFunctionInput,
  ScriptedLlmOptions,
  ScriptedReply,
  ScriptedStep,
} from "./scripted-llm.ts";
export { ScriptedLlm } from "./scripted-llm.ts";
export { loadLanguageModel, type ModelOptions, redirectModelWarnings } from "./load-language-model.ts";
