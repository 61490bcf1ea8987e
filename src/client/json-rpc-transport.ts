import type { OperationName, Operations, StreamResponse } from "../protocol/index.ts";
import { fromJsonRpcError, parseSse, v1 } from "../wire/index.ts";
import {
  type Call,
  chunks,
  failureOf,
  type Http,
  isEventStream,
  isObject,
  JSON_TYPES,
  parseJson,
  readText,
  request,
  withRetryAfter,
} from "./http.ts";
import {
  type Received,
  type StreamCall,
  streamHeaders,
  type StreamOperation,
  type Transport,
  type UnaryOperation,
} from "./transport.ts";

/** A2A §9. */
export class JsonRpcTransport implements Transport {
  readonly #http: Http;
  readonly #url: string;
  #lastId = 0;

  constructor(http: Http, url: string) {
    this.#http = http;
    this.#url = url;
  }

  async call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: Call,
  ): Promise<Operations[O]["result"]> {
    const response = await this.#post(operation, params, JSON_TYPES, call);
    return v1.decodeResult(operation, await this.#result(response, call));
  }

  async *stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCall,
  ): AsyncGenerator<Received, void, undefined> {
    const headers = streamHeaders(call);
    const response = await this.#post(operation, params, `text/event-stream, ${JSON_TYPES}`, {
      ...call,
      headers,
    });
    const decode = (json: unknown): StreamResponse => v1.decodeResult(operation, json);
    if (!isEventStream(response)) {
      // What fails before the stream begins is answered without one (A2A §9.4.2).
      yield { event: decode(await this.#result(response, call)) };
      return;
    }
    for await (const { id, data } of parseSse(chunks(response, call.signal), this.#http)) {
      const envelope = parseJson(data);
      yield { id, event: decode(resultOf(envelope, response)) };
    }
  }

  #post(operation: OperationName, params: object, accept: string, call: Call): Promise<Response> {
    this.#lastId += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", id: this.#lastId, method: operation, params });
    const contentType = "application/json";
    return request(this.#http, { ...call, method: "POST", url: this.#url, accept, contentType, body });
  }

  async #result(response: Response, { signal }: Call): Promise<unknown> {
    return resultOf(parseJson(await readText(this.#http, response, signal)), response);
  }
}

function resultOf(envelope: unknown, response: Response): unknown {
  if (isObject(envelope)) {
    if (isObject(envelope["error"])) {
      throw withRetryAfter(fromJsonRpcError(envelope["error"], response.status), response);
    }
    if ("result" in envelope) return envelope["result"];
  }
  throw withRetryAfter(failureOf(response, envelope), response);
}
