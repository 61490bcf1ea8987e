/**
 * Codec for the simple dialect, a protocol from a guide to A2A. The simple dialect has `tasks/create`,
 * `tasks/get {taskId}`, messages without ids, five task states, flat parts, and named server-sent events.
 * A server supports the simple dialect at the same URL as A2A 0.3.
 */
export { createSimpleDialect, taskEventStreamCodec } from "./simple-json-rpc-dialect.ts";
export { toSimpleError } from "./encode.ts";
