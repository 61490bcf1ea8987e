/** A2A 1.0: JSON schemas, JSON-RPC methods, and HTTP routes of A2A 1.0. */
export { validateAgentCard } from "./validate-agent-card.ts";

export { decodeCard, decodeParams, decodeResult, isOperationName } from "./decode.ts";
export { jsonRpcDialect, protoDialect, restDialect } from "./binding-dialects.ts";
export { ENUMS, MESSAGES, OPERATION_MESSAGES, REST_ROUTES } from "./messages.ts";
