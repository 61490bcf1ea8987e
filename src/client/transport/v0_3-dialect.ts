import { isObject } from "../../protocol/index.ts";
import * as v0_3 from "../../wire/v0_3/index.ts";
import {
  buildRestRequest,
  createUnsupportedOperationError,
  type JsonRpcClientDialect,
  type RestClientDialect,
} from "./dialect.ts";

/** A2A 0.3 over JSON-RPC (0.3 §3.5.6), whose results have no wrapper object. */
export const jsonRpcDialect: JsonRpcClientDialect = {
  version: "0.3",
  encodeRequest(operation, params) {
    const [method] =
      Object.entries(v0_3.OPERATIONS_BY_JSON_RPC_METHOD).find(([, name]) => name === operation) ?? [];
    if (method === undefined) throw createUnsupportedOperationError(operation, "0.3");
    return { method, params: v0_3.encodeParams(operation, params) };
  },
  decodeResult: v0_3.decodeResult,
  isFinalEvent: (json) => isObject(json) && json["final"] === true,
};

/**
 * A2A 0.3 over HTTP+JSON (0.3 §3.5.3). The body of a POST request is the JSON of the request in the 0.3 proto file, unless
 * the path already contains all fields.
 */
export const restDialect: RestClientDialect = {
  version: "0.3",
  encodeRequest(operation, params) {
    if (operation === "ListTasks") throw createUnsupportedOperationError(operation, "0.3");
    const { tenant: _, ...members } = params;
    const request = buildRestRequest(v0_3.REST_ROUTES, operation, members);
    if (request.method !== "POST") return request;
    const isInPath = operation === "CancelTask" || operation === "SubscribeToTask";
    return { ...request, body: isInPath ? {} : v0_3.protoJsonCodec.encodeParams(operation, params) };
  },
  decodeResult: (operation, json, leniency) => v0_3.protoJsonCodec.decodeResult(operation, json, leniency),
  isFinalEvent(json) {
    const update = isObject(json) ? (json["statusUpdate"] ?? json["status_update"]) : undefined;
    return isObject(update) && update["final"] === true;
  },
};
