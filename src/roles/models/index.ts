/** MODELS that are none: they follow a script or the human solution, say again what was recorded, or make mistakes on purpose. */
export { oracle, type OracleOptions } from "./oracle.ts";
export { type RoleScript, scripted, type ScriptedOptions, type ScriptReply } from "./scripted.ts";
