import type { OperationCodec, JsonRpcDialect, ProtoDialect, RestDialect } from "../dialect.ts";
import { isObject } from "../../protocol/index.ts";
import { encodeJsonRpcError } from "../json-rpc.ts";
import { isDeviationAccepted, type PeerLeniency } from "../leniency.ts";
import { toRestError } from "../rest-error.ts";
import { collectRestParams } from "../collect-rest-params.ts";
import { decodeParams, decodeResult, isOperationName } from "./decode.ts";
import { matchRoute } from "./routes.ts";

/**
 * Codec for 1.0 JSON. The 1.0 dialects send results unchanged, because the engine uses the 1.0 model.
 * Each event already has its JSON text.
 */
const v1Codec: OperationCodec = {
  decodeParams,
  toResultJson: (_operation, result) => result,
  encodeEvent: ({ jsonText: json }) => json,
};

/** Dialect of A2A 1.0 over JSON-RPC (A2A §9). */
export const jsonRpcDialect: JsonRpcDialect = {
  ...v1Codec,
  version: "1.0",
  findOperation: (method) => (isOperationName(method) ? method : undefined),
  encodeError: encodeJsonRpcError,
};

/** Dialect of A2A 1.0 over HTTP+JSON (A2A §11). */
export const restDialect: RestDialect = {
  ...v1Codec,
  version: "1.0",
  mediaType: "application/a2a+json",
  matchRoute,
  collectParams: collectRestParams,
  toErrorResponse: toRestError,
};

/** Codec of A2A 1.0 over gRPC (A2A §10). The engine's model is already the ProtoJSON of the gRPC messages. */
export const protoDialect: ProtoDialect = {
  version: "1.0",
  decodeParams: (operation, json, leniency = "all") =>
    decodeParams(operation, operation === "ListTasks" ? omitZeroPageSize(json, leniency) : json),
  decodeResult,
  encodeParams: (_operation, params) => params,
  toProtoResponseMessage: (_operation, result) => result,
};

/** Removes a page size of 0, which counts as not set (`zeroPageSize`). */
function omitZeroPageSize(json: unknown, leniency: PeerLeniency): unknown {
  if (!isObject(json) || json["pageSize"] !== 0 || !isDeviationAccepted("zeroPageSize", leniency))
    return json;
  const { pageSize: _, ...rest } = json;
  return rest;
}
