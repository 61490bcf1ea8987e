/**
 * The simple dialect from a guide to A2A. It has `tasks/create`, `tasks/get {taskId}`, messages without ids,
 * five states, flat parts, and named server-sent events. A server offers it at the same URL as A2A 0.3.
 */
export { findSimpleDialect, taskEventCodec, type SimpleDialectContext } from "./simple-json-rpc-dialect.ts";
export { toSimpleError } from "./simple-error.ts";
