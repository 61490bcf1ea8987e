/**
 * Deterministic models for tests and baselines, including scripted, recorded, heuristic, and deliberately
 * faulty models. A cassette records and replays the replies of a language model. `toRoleModel` of
 * `colloquy/adk` creates role models that call a language model.
 */
export {
  createCassetteModel,
  type CassetteModelOptions,
  type CassetteStore,
  type CassetteEntry,
} from "./cassette-model.ts";
export { type FaultOptions, withFaults } from "./faulty-model.ts";
export { type HotpotHeuristicOptions, createHotpotHeuristicModel } from "./hotpot-heuristic-model.ts";
export { createOracleModel, type OracleModelOptions } from "./oracle-model.ts";
export { type AiSdkLanguageModel, createAiSdkModel, type AiSdkModelOptions } from "./ai-sdk-model.ts";
export { createOpenAiCompatibleModel, type OpenAiCompatibleModelOptions } from "./openai-compatible-model.ts";
export { createRequestLimit, excludeDelays } from "./request-limit.ts";
export { createRecordedGsm8kModel } from "./recorded-gsm8k-model.ts";
export {
  type ModelScript,
  createScriptedModel,
  type ScriptedModelOptions,
  type ScriptedModelReply,
} from "./scripted-model.ts";
