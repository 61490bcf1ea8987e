import {
  isObject,
  type A2AError,
  type OperationName,
  type Operations,
  stripTrailingCharacters,
} from "../../protocol/index.ts";
import { fromRestError, parseSse, type ProtocolVersion } from "../../wire/index.ts";
import { decodeStreamEvent, type RestRequest, type RestClientDialect } from "./dialect.ts";
import {
  toResponseError,
  isEventStream,
  JSON_MEDIA_TYPES,
  waitUntilStreamOpens,
  type OutgoingRequest,
  readUnaryBody,
  sendRequest,
  addRetryAfterToError,
} from "./send-http-request.ts";
import type { CallOptions, TransportOptions } from "./transport.ts";
import { readChunks } from "../http/fetch-without-redirects.ts";
import { parseResponseJson } from "../http/parse-response-json.ts";
import {
  type ReceivedStreamEvent,
  type StreamCallOptions,
  buildStreamHeaders,
  type StreamOperation,
  type Transport,
  type UnaryOperation,
} from "./transport.ts";

/** The HTTP+JSON transport for all supported protocol versions (A2A §11). */
export class RestTransport implements Transport {
  readonly version: ProtocolVersion;
  readonly #options: TransportOptions;
  readonly #url: string;
  readonly #dialect: RestClientDialect;

  constructor(options: TransportOptions, url: string, dialect: RestClientDialect) {
    this.#options = options;
    this.#url = stripTrailingCharacters(url, "/");
    this.#dialect = dialect;
    this.version = dialect.version;
  }

  async call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Operations[O]["result"]> {
    const response = await this.#sendRequest(
      this.#dialect.encodeRequest(operation, params),
      JSON_MEDIA_TYPES,
      call,
    );
    return this.#dialect.decodeResult(operation, await this.#readResult(response, operation, call));
  }

  async *stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCallOptions,
  ): AsyncGenerator<ReceivedStreamEvent, void, undefined> {
    const route = this.#dialect.encodeRequest(operation, params);
    const headers = buildStreamHeaders(call);
    const response = await waitUntilStreamOpens(this.#options, this.#url, call.signal, (signal) =>
      this.#openStream(operation, route, { ...call, headers, signal }),
    );
    if (!isEventStream(response)) {
      const result = await waitUntilStreamOpens(this.#options, this.#url, call.signal, (signal) =>
        this.#readResult(response, operation, { signal }),
      );
      yield decodeStreamEvent(this.#dialect, operation, result);
      return;
    }
    for await (const { id, event, data } of parseSse(
      readChunks(response, call.signal, this.#options.streamIdleMs),
      this.#options,
    )) {
      const json = parseResponseJson(data, this.#options);
      // A2A does not define errors inside a stream. Some servers send an `error` event, others an `error`
      // field.
      if (event === "error" || (isObject(json) && "error" in json)) {
        throw addRetryAfterToError(fromRestError(getStreamErrorHttpStatus(json), json), response);
      }
      yield decodeStreamEvent(this.#dialect, operation, json, { id, size: data.length });
    }
  }

  /**
   * Opens a stream. For subscriptions to a task, the text of the specification requires POST, but its proto
   * file requires GET. Servers may support only one of the two methods, so the client tries GET after a 404
   * or 405 response to POST.
   */
  async #openStream(operation: StreamOperation, route: RestRequest, call: CallOptions): Promise<Response> {
    const accept = `text/event-stream, ${JSON_MEDIA_TYPES}`;
    const response = await this.#sendRequest(route, accept, call);
    if (operation !== "SubscribeToTask" || (response.status !== 404 && response.status !== 405))
      return response;
    const error = await this.#readError(response, operation, call);
    if (error.reason !== "NOT_FOUND" && error.reason !== "METHOD_NOT_ALLOWED") throw error;
    return this.#sendRequest({ method: "GET", path: route.path }, accept, call);
  }

  #sendRequest(
    { method, path, query, body }: RestRequest,
    accept: string,
    call: CallOptions,
  ): Promise<Response> {
    const url = `${this.#url}${path}${query ? buildQueryString(query) : ""}`;
    const request: OutgoingRequest = { ...call, method, url, accept };
    if (body === undefined) return sendRequest(this.#options, request);
    return sendRequest(this.#options, {
      ...request,
      contentType: "application/json",
      body: JSON.stringify(body),
    });
  }

  async #readResult(response: Response, operation: OperationName, call: CallOptions): Promise<unknown> {
    if (!response.ok) throw await this.#readError(response, operation, call);
    const text = await readUnaryBody(this.#options, response, { signal: call.signal, operation });
    // A response without a result, for example after a deletion, may have an empty body.
    const json = text === "" ? null : parseResponseJson(text, this.#options);
    if (json === undefined) throw toResponseError(response, json);
    return json;
  }

  async #readError(response: Response, operation: OperationName, { signal }: CallOptions): Promise<A2AError> {
    const text = await readUnaryBody(this.#options, response, { signal, operation });
    return addRetryAfterToError(toResponseError(response, parseResponseJson(text, this.#options)), response);
  }
}

function buildQueryString(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size > 0 ? `?${parameters.toString()}` : "";
}

/** Returns the HTTP status in a stream error, or 500 if the error contains no status. */
function getStreamErrorHttpStatus(json: unknown): number {
  const error = isObject(json) && isObject(json["error"]) ? json["error"] : json;
  const code = isObject(error) ? error["code"] : undefined;
  return typeof code === "number" && code >= 400 && code < 600 ? code : 500;
}
