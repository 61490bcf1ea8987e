/** The `colloquy/testing` entry: answerers and models for tests, which need no model provider. */
export {
  cassette,
  type CassetteOptions,
  type CassetteStore,
  type Faults,
  faulty,
  type HeuristicOptions,
  heuristicHotpot,
  oracle,
  type OracleOptions,
  recorded,
  type RoleScript,
  scripted,
  type ScriptedOptions,
  type ScriptReply,
  type Take,
} from "../roles/index.ts";
export { cassetteFile } from "../experiments/index.ts";
