/**
 * The simple dialect, of a guide to A2A: `tasks/create`, `tasks/get {taskId}`, messages without ids, five states, flat parts,
 * and named server-sent events. Served beside 0.3 to whoever speaks it.
 */
export { jsonRpcFor, taskEvents, type SimpleContext } from "./dialect.ts";
export { toSimpleError } from "./errors.ts";
