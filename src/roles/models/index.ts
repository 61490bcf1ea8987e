/**
 * MODELS that are none: they follow a script or the human solution, say again what was recorded, route by words, or make
 * mistakes on purpose. A cassette records and replays those that are. Real ones are `roleModel(…)` of `colloquy/adk`.
 */
export { cassette, type CassetteOptions, type CassetteStore, type Take } from "./cassette.ts";
export { type Faults, faulty } from "./faulty.ts";
export { type HeuristicOptions, heuristicHotpot } from "./heuristic.ts";
export { oracle, type OracleOptions } from "./oracle.ts";
export { recorded } from "./recorded.ts";
export { type RoleScript, scripted, type ScriptedOptions, type ScriptReply } from "./scripted.ts";
