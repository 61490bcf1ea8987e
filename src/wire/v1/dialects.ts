import type { Codec, JsonRpcDialect, ProtoDialect, RestDialect } from "../dialect.ts";
import { encodeJsonRpcError } from "../json-rpc.ts";
import { toRestError } from "../rest-error.ts";
import { paramsFromRest } from "../rest.ts";
import { decodeParams, decodeResult, isOperation } from "./decode.ts";
import { matchRoute } from "./routes.ts";

/** What the engine speaks is 1.0 already: a result is serialised, an event has its text. */
const codec: Codec = {
  decodeParams,
  encodeResult: (_operation, result) => JSON.stringify(result),
  encodeEvent: ({ json }) => json,
};

/** A2A §9. */
export const jsonRpc: JsonRpcDialect = {
  ...codec,
  version: "1.0",
  operationOf: (method) => (isOperation(method) ? method : undefined),
  encodeError: encodeJsonRpcError,
};

/** A2A §11. */
export const rest: RestDialect = {
  ...codec,
  version: "1.0",
  mediaType: "application/a2a+json",
  matchRoute,
  paramsOf: paramsFromRest,
  toError: toRestError,
};

/** A2A §10: the model is the ProtoJSON. */
export const proto: ProtoDialect = {
  version: "1.0",
  decodeParams,
  decodeResult,
  encodeParams: (_operation, params) => params,
  toResult: (_operation, result) => result,
};
