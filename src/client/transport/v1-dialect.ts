import * as v1 from "../../wire/v1/index.ts";
import {
  buildRestRequest,
  encodePathSegment,
  type JsonRpcClientDialect,
  type RestClientDialect,
} from "./dialect.ts";

const v1ResultDecoder = { version: "1.0", decodeResult: v1.decodeResult, isFinalEvent: () => false } as const;

/** A2A 1.0 over JSON-RPC (A2A §9), whose wire format is also the client's model. */
export const jsonRpcDialect: JsonRpcClientDialect = {
  ...v1ResultDecoder,
  encodeRequest: (method, params) => ({ method, params }),
};

/** A2A 1.0 over HTTP+JSON (A2A §11.3), which sends the tenant only in the path (A2A §8.3.2). */
export const restDialect: RestClientDialect = {
  ...v1ResultDecoder,
  encodeRequest(operation, { tenant, ...params }) {
    const request = buildRestRequest(v1.REST_ROUTES, operation, params);
    return tenant ? { ...request, path: `/${encodePathSegment(tenant)}${request.path}` } : request;
  },
};
