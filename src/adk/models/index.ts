/** MODELS for ADK agents that are not Gemini: a scripted one for tests and demos, and every model of the AI SDK. */
export type { Script, ScriptedAsk, ScriptedOptions, ScriptedReply, ScriptedStep } from "./scripted.ts";
export { ScriptedLlm } from "./scripted.ts";
