import type { OperationName, Operations } from "../../protocol/index.ts";
import { fromJsonRpcError, parseSse, type ProtocolVersion } from "../../wire/index.ts";
import type { JsonRpcClientDialect } from "./dialect.ts";
import {
  type Call,
  chunks,
  failureOf,
  type Http,
  isEventStream,
  isObject,
  JSON_TYPES,
  parseJson,
  readAnswer,
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

/** JSON-RPC over HTTP, in whatever version (A2A §9). */
export class JsonRpcTransport implements Transport {
  readonly version: ProtocolVersion;
  readonly #http: Http;
  readonly #url: string;
  readonly #dialect: JsonRpcClientDialect;
  #lastId = 0;

  constructor(http: Http, url: string, dialect: JsonRpcClientDialect) {
    this.#http = http;
    this.#url = url;
    this.#dialect = dialect;
    this.version = dialect.version;
  }

  async call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: Call,
  ): Promise<Operations[O]["result"]> {
    const response = await this.#post(operation, params, JSON_TYPES, call);
    return this.#dialect.decodeResult(operation, await this.#result(response, call));
  }

  async *stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCall,
  ): AsyncGenerator<Received, void, undefined> {
    const headers = streamHeaders(call);
    const accept = `text/event-stream, ${JSON_TYPES}`;
    const response = await this.#post(operation, params, accept, { ...call, headers });
    if (!isEventStream(response)) {
      // What fails before the stream begins is answered without one (A2A §9.4.2).
      yield this.#received(operation, await this.#result(response, call));
      return;
    }
    for await (const { id, data } of parseSse(chunks(response, call.signal), this.#http)) {
      yield this.#received(operation, resultOf(parseJson(data), response), id);
    }
  }

  #received(operation: StreamOperation, json: unknown, id?: string): Received {
    const event = this.#dialect.decodeResult(operation, json);
    return this.#dialect.isLast(json) ? { id, event, isLast: true } : { id, event };
  }

  async #post<O extends OperationName>(
    operation: O,
    given: Operations[O]["params"],
    accept: string,
    call: Call,
  ): Promise<Response> {
    const { method, params } = this.#dialect.toCall(operation, given);
    this.#lastId += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", id: this.#lastId, method, params });
    const contentType = "application/json";
    return request(this.#http, { ...call, method: "POST", url: this.#url, accept, contentType, body });
  }

  async #result(response: Response, { signal }: Call): Promise<unknown> {
    return resultOf(parseJson(await readAnswer(this.#http, response, signal)), response);
  }
}

function resultOf(envelope: unknown, response: Response): unknown {
  if (isObject(envelope)) {
    if (isObject(envelope["error"])) {
      throw withRetryAfter(fromJsonRpcError(envelope["error"], response.status), response);
    }
    // Some leave out a result that is null, as that of a deletion.
    if (response.ok && ("result" in envelope || envelope["jsonrpc"] === "2.0"))
      return envelope["result"] ?? null;
  }
  throw withRetryAfter(failureOf(response, envelope), response);
}
