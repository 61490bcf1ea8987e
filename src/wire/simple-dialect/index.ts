/**
 * The simple dialect, which comes from a guide to A2A. The dialect has `tasks/create`, `tasks/get {taskId}`,
 * messages without ids, five states, flat parts, and named server-sent events. A server supports the dialect
 * at the same URL as A2A 0.3.
 */
export { findSimpleDialect, taskEventCodec } from "./simple-json-rpc-dialect.ts";
export { toSimpleError } from "./simple-error.ts";
