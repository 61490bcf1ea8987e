/**
 * The simple dialect, of a guide to A2A: `tasks/create`, `tasks/get {taskId}`, messages without ids, five states, flat parts,
 * and named server-sent events. Served beside 0.3 to whoever speaks it.
 */
export { findSimpleDialect, taskEventCodec, type SimpleDialectContext } from "./simple-json-rpc-dialect.ts";
export { toSimpleError } from "./simple-error.ts";
