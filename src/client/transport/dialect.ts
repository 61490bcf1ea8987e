import { A2AError, type OperationName, type Operations } from "../../protocol/index.ts";
import type { PeerLeniency, ProtocolVersion, RestRoute } from "../../wire/index.ts";

/**
 * Decodes responses of one protocol version. Outside the dialects, the client uses only the A2A 1.0 model.
 */
interface ResultDecoder {
  readonly version: ProtocolVersion;
  /** Decodes the JSON of a response, or of one stream element. */
  decodeResult<O extends OperationName>(
    operation: O,
    json: unknown,
    leniency?: PeerLeniency,
  ): Operations[O]["result"];
  /** Returns whether a stream element declares itself to be the last one. */
  isFinalEvent(json: unknown): boolean;
}

/** Encodes the requests of one protocol version for JSON-RPC, and decodes the responses. */
export interface JsonRpcClientDialect extends ResultDecoder {
  /**
   * Encodes a request. Throws `UNSUPPORTED_OPERATION` if the protocol version does not define the operation.
   */
  encodeRequest<O extends OperationName>(
    operation: O,
    params: Operations[O]["params"],
  ): { readonly method: string; readonly params: unknown };
}

/** Encodes the requests of one protocol version for HTTP+JSON, and decodes the responses. */
export interface RestClientDialect extends ResultDecoder {
  /**
   * Encodes a request. Throws `UNSUPPORTED_OPERATION` if the protocol version does not define the operation.
   */
  encodeRequest<O extends OperationName>(operation: O, params: Operations[O]["params"]): RestRequest;
}

/** An HTTP request with a path relative to the URL of an interface. */
export interface RestRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** Query parameters of the request. Parameters with undefined values are omitted. */
  readonly query?: object;
  readonly body?: unknown;
}

/**
 * Builds the request of an operation that has a route. The parameters that are not in the path are the body of a POST
 * request, or the query of another request.
 */
export function buildRestRequest(
  routes: readonly RestRoute[],
  operation: OperationName,
  params: object,
): RestRequest {
  const [, methods, template] = routes.find(([name]) => name === operation)!;
  const rest: Record<string, unknown> = { ...params };
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const { [name]: value } = rest;
    delete rest[name];
    return encodePathSegment(String(value));
  });
  // A route with several methods names the method of the specification first.
  const [method] = methods.split(" ") as [RestRequest["method"]];
  return method === "POST" ? { method, path, body: rest } : { method, path, query: rest };
}

/** Encodes a value for a path. Throws for values that URL parsers remove, because the request would have another path. */
export function encodePathSegment(value: string): string {
  if (/^\.{0,2}$/.test(value))
    throw new A2AError("INVALID_PARAMS", `A path cannot contain the id "${value}".`);
  return encodeURIComponent(value);
}

export function createUnsupportedOperationError(
  operation: OperationName,
  version: ProtocolVersion,
): A2AError {
  return new A2AError(
    "UNSUPPORTED_OPERATION",
    `A2A ${version}, which this agent uses, does not define ${operation}. Use an agent that supports a newer version.`,
  );
}
