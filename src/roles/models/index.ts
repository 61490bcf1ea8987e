/**
 * MODELS that are none: they follow a script or the human solution, say again what was recorded, route by words, or make
 * mistakes on purpose. A cassette records and replays those that are. Real ones are `toRoleModel(…)` of `colloquy/adk`.
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
export { createRecordedModel } from "./recorded-model.ts";
export {
  type ModelScript,
  createScriptedModel,
  type ScriptedModelOptions,
  type ScriptedModelReply,
} from "./scripted-model.ts";
