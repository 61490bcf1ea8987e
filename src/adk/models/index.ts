/** MODELS for ADK agents that are not Gemini: a scripted one for tests and demos, and every model of the AI SDK. */
export { type AiSdkSource, AiSdkLlm } from "./ai-sdk.ts";
export { hushModels } from "./hush.ts";
export { type ModelOptions, model } from "./model.ts";
export type { Script, ScriptedAsk, ScriptedOptions, ScriptedReply, ScriptedStep } from "./scripted.ts";
export { ScriptedLlm } from "./scripted.ts";
export {
  type LlmRoleModel,
  roleModel,
  type RoleCall,
  type RoleModelOptions,
  type RoleReply,
  type RoleUsage,
} from "./role-model.ts";
