import { isObject, type OperationName, type Operations } from "../../protocol/index.ts";
import { fromJsonRpcError, parseSse, type ProtocolVersion } from "../../wire/index.ts";
import { decodeStreamEvent, type JsonRpcClientDialect } from "./dialect.ts";
import {
  toResponseError,
  isEventStream,
  JSON_MEDIA_TYPES,
  waitUntilStreamOpens,
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

/** The JSON-RPC transport for all supported protocol versions (A2A §9). */
export class JsonRpcTransport implements Transport {
  readonly version: ProtocolVersion;
  readonly #options: TransportOptions;
  readonly #url: string;
  readonly #dialect: JsonRpcClientDialect;
  #lastRequestId = 0;

  constructor(options: TransportOptions, url: string, dialect: JsonRpcClientDialect) {
    this.#options = options;
    this.#url = url;
    this.#dialect = dialect;
    this.version = dialect.version;
  }

  async call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Operations[O]["result"]> {
    const response = await this.#post(operation, params, JSON_MEDIA_TYPES, call);
    return this.#dialect.decodeResult(operation, await this.#readResult(response, operation, call));
  }

  async *stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCallOptions,
  ): AsyncGenerator<ReceivedStreamEvent, void, undefined> {
    const headers = buildStreamHeaders(call);
    const accept = `text/event-stream, ${JSON_MEDIA_TYPES}`;
    const response = await waitUntilStreamOpens(this.#options, this.#url, call.signal, (signal) =>
      this.#post(operation, params, accept, { ...call, headers, signal }),
    );
    if (!isEventStream(response)) {
      const result = await waitUntilStreamOpens(this.#options, this.#url, call.signal, (signal) =>
        this.#readResult(response, operation, { signal }),
      );
      // An error before the stream starts arrives as a plain JSON response (A2A §9.4.2).
      yield decodeStreamEvent(this.#dialect, operation, result);
      return;
    }
    for await (const { id, data } of parseSse(
      readChunks(response, call.signal, this.#options.streamIdleMs),
      this.#options,
    )) {
      yield decodeStreamEvent(
        this.#dialect,
        operation,
        extractJsonRpcResult(parseResponseJson(data, this.#options), response),
        { id, size: data.length },
      );
    }
  }

  async #post<O extends OperationName>(
    operation: O,
    operationParams: Operations[O]["params"],
    accept: string,
    call: CallOptions,
  ): Promise<Response> {
    const { method, params } = this.#dialect.encodeRequest(operation, operationParams);
    this.#lastRequestId += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", id: this.#lastRequestId, method, params });
    const contentType = "application/json";
    return sendRequest(this.#options, { ...call, method: "POST", url: this.#url, accept, contentType, body });
  }

  async #readResult(response: Response, operation: OperationName, { signal }: CallOptions): Promise<unknown> {
    return extractJsonRpcResult(
      parseResponseJson(await readUnaryBody(this.#options, response, { signal, operation }), this.#options),
      response,
    );
  }
}

function extractJsonRpcResult(envelope: unknown, response: Response): unknown {
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
