/** The `colloquy/testing` entry: answerers and models for tests, which need no model provider. */
export {
  createCassetteModel,
  type CassetteModelOptions,
  type CassetteStore,
  type FaultOptions,
  withFaults,
  type HotpotHeuristicOptions,
  createHotpotHeuristicModel,
  createOracleModel,
  type OracleModelOptions,
  createRecordedModel,
  type ModelScript,
  createScriptedModel,
  type ScriptedModelOptions,
  type ScriptedModelReply,
  type CassetteEntry,
} from "../roles/index.ts";
export { openCassetteFile } from "../experiments/index.ts";
