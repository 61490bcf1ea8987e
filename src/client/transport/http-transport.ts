import { type A2AError, isObject, type Operations, stripTrailingCharacters } from "../../protocol/index.ts";
import { fromJsonRpcError, fromRestError, parseSse, type ProtocolVersion } from "../../wire/index.ts";
import { readChunks } from "../http/fetch-without-redirects.ts";
import { parseResponseJson } from "../http/parse-response-json.ts";
import type { JsonRpcClientDialect, RestClientDialect } from "./dialect.ts";
import {
  addRetryAfterToError,
  isEventStream,
  JSON_MEDIA_TYPES,
  readUnaryBody,
  sendRequest,
  toResponseError,
  waitUntilStreamOpens,
} from "./send-http-request.ts";
import {
  buildStreamHeaders,
  type CallOptions,
  type ReceivedStreamEvent,
  type StreamCallOptions,
  type StreamOperation,
  type Transport,
  type TransportOptions,
  type UnaryOperation,
} from "./transport.ts";

const STREAM_MEDIA_TYPES = `text/event-stream, ${JSON_MEDIA_TYPES}`;

type Operation = StreamOperation | UnaryOperation;

/** What both bindings over HTTP share: unary calls, and streams of SSE events. */
abstract class HttpTransport<Dialect extends JsonRpcClientDialect | RestClientDialect> implements Transport {
  readonly version: ProtocolVersion;
  protected readonly options: TransportOptions;
  protected readonly url: string;
  protected readonly dialect: Dialect;

  constructor(options: TransportOptions, url: string, dialect: Dialect) {
    this.options = options;
    this.url = url;
    this.dialect = dialect;
    this.version = dialect.version;
  }

  async call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Operations[O]["result"]> {
    const response = await this.send(operation, params, JSON_MEDIA_TYPES, call);
    const json = await this.readResult(response, operation, call);
    return this.dialect.decodeResult(operation, json, this.options.peerLeniency);
  }

  async *stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCallOptions,
  ): AsyncGenerator<ReceivedStreamEvent, void, undefined> {
    const { options } = this;
    const headers = buildStreamHeaders(call);
    const response = await waitUntilStreamOpens(options, this.url, call.signal, (signal) =>
      this.openStream(operation, params, { ...call, headers, signal }),
    );
    if (!isEventStream(response)) {
      const result = await waitUntilStreamOpens(options, this.url, call.signal, (signal) =>
        this.readResult(response, operation, { signal }),
      );
      // An error before the stream starts arrives as a plain JSON response (A2A §9.4.2).
      yield this.#decodeEvent(operation, result);
      return;
    }
    const chunks = readChunks(response, call.signal, options.streamIdleMs);
    for await (const { id, event, data } of parseSse(chunks, options)) {
      const json = this.readEvent(parseResponseJson(data, options), event, response);
      yield this.#decodeEvent(operation, json, id, data.length);
    }
  }

  #decodeEvent(operation: StreamOperation, json: unknown, id?: string, size = 0): ReceivedStreamEvent {
    const event = this.dialect.decodeResult(operation, json, this.options.peerLeniency);
    return this.dialect.isFinalEvent(json) ? { id, event, size, isLast: true } : { id, event, size };
  }

  protected openStream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Response> {
    return this.send(operation, params, STREAM_MEDIA_TYPES, call);
  }

  protected abstract send<O extends Operation>(
    operation: O,
    params: Operations[O]["params"],
    accept: string,
    call: CallOptions,
  ): Promise<Response>;

  /** Returns the JSON of a result. Rejects with the error of the response. */
  protected abstract readResult(
    response: Response,
    operation: Operation,
    call: CallOptions,
  ): Promise<unknown>;

  /** Returns the JSON of an A2A event from the JSON of an SSE event, or throws its error. */
  protected abstract readEvent(json: unknown, name: string | undefined, response: Response): unknown;
}

/** The JSON-RPC transport for all supported protocol versions (A2A §9). */
export class JsonRpcTransport extends HttpTransport<JsonRpcClientDialect> {
  #lastRequestId = 0;

  protected override send<O extends Operation>(
    operation: O,
    operationParams: Operations[O]["params"],
    accept: string,
    call: CallOptions,
  ): Promise<Response> {
    const { method, params } = this.dialect.encodeRequest(operation, operationParams);
    this.#lastRequestId += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", id: this.#lastRequestId, method, params });
    const contentType = "application/json";
    return sendRequest(this.options, { ...call, method: "POST", url: this.url, accept, contentType, body });
  }

  protected override async readResult(
    response: Response,
    operation: Operation,
    { signal }: CallOptions,
  ): Promise<unknown> {
    const text = await readUnaryBody(this.options, response, { signal, operation });
    return this.readEvent(parseResponseJson(text, this.options), undefined, response);
  }

  protected override readEvent(envelope: unknown, _name: string | undefined, response: Response): unknown {
    if (isObject(envelope)) {
      if (isObject(envelope["error"])) {
        throw addRetryAfterToError(fromJsonRpcError(envelope["error"], response.status), response);
      }
      // Some servers omit a `null` result, for example after a deletion.
      if (response.ok && ("result" in envelope || envelope["jsonrpc"] === "2.0"))
        return envelope["result"] ?? null;
    }
    throw addRetryAfterToError(toResponseError(response, envelope), response);
  }
}

/** The HTTP+JSON transport for all supported protocol versions (A2A §11). */
export class RestTransport extends HttpTransport<RestClientDialect> {
  constructor(options: TransportOptions, url: string, dialect: RestClientDialect) {
    super(options, stripTrailingCharacters(url, "/"), dialect);
  }

  /**
   * Opens a stream. For subscriptions to a task, the text of the specification requires POST, but its proto
   * file requires GET. Servers may support only one of the two methods, so the client tries GET after a 404
   * or 405 response to POST.
   */
  protected override async openStream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Response> {
    const response = await super.openStream(operation, params, call);
    if (operation !== "SubscribeToTask" || (response.status !== 404 && response.status !== 405))
      return response;
    const error = await this.#readError(response, operation, call);
    if (error.reason !== "NOT_FOUND" && error.reason !== "METHOD_NOT_ALLOWED") throw error;
    const url = `${this.url}${this.dialect.encodeRequest(operation, params).path}`;
    return sendRequest(this.options, { ...call, method: "GET", url, accept: STREAM_MEDIA_TYPES });
  }

  protected override send<O extends Operation>(
    operation: O,
    params: Operations[O]["params"],
    accept: string,
    call: CallOptions,
  ): Promise<Response> {
    const { method, path, query, body } = this.dialect.encodeRequest(operation, params);
    const url = `${this.url}${path}${query ? buildQueryString(query) : ""}`;
    const json = body === undefined ? {} : { contentType: "application/json", body: JSON.stringify(body) };
    return sendRequest(this.options, { ...call, method, url, accept, ...json });
  }

  protected override async readResult(
    response: Response,
    operation: Operation,
    call: CallOptions,
  ): Promise<unknown> {
    if (!response.ok) throw await this.#readError(response, operation, call);
    const text = await readUnaryBody(this.options, response, { signal: call.signal, operation });
    // A response without a result, for example after a deletion, may have an empty body.
    const json = text === "" ? null : parseResponseJson(text, this.options);
    if (json === undefined) throw toResponseError(response, json);
    return json;
  }

  /** A2A does not define errors inside a stream. Some servers send an `error` event, others an `error` field. */
  protected override readEvent(json: unknown, name: string | undefined, response: Response): unknown {
    if (name !== "error" && !(isObject(json) && "error" in json)) return json;
    throw addRetryAfterToError(fromRestError(getStreamErrorHttpStatus(json), json), response);
  }

  async #readError(response: Response, operation: Operation, { signal }: CallOptions): Promise<A2AError> {
    const text = await readUnaryBody(this.options, response, { signal, operation });
    return addRetryAfterToError(toResponseError(response, parseResponseJson(text, this.options)), response);
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
