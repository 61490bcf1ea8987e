import type { A2AError, Operations } from "../../protocol/index.ts";
import { fromRestError, parseSse, type ProtocolVersion } from "../../wire/index.ts";
import type { RestCall, RestClientDialect } from "./dialect.ts";
import {
  type Call,
  chunks,
  failureOf,
  type Http,
  isEventStream,
  isObject,
  JSON_TYPES,
  type Outgoing,
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

/** HTTP+JSON, in whatever version (A2A §11). */
export class RestTransport implements Transport {
  readonly version: ProtocolVersion;
  readonly #http: Http;
  readonly #url: string;
  readonly #dialect: RestClientDialect;

  constructor(http: Http, url: string, dialect: RestClientDialect) {
    this.#http = http;
    this.#url = url.replace(/\/+$/, "");
    this.#dialect = dialect;
    this.version = dialect.version;
  }

  async call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: Call,
  ): Promise<Operations[O]["result"]> {
    const response = await this.#send(this.#dialect.toRoute(operation, params), JSON_TYPES, call);
    return this.#dialect.decodeResult(operation, await this.#result(response, call));
  }

  async *stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCall,
  ): AsyncGenerator<Received, void, undefined> {
    const route = this.#dialect.toRoute(operation, params);
    const response = await this.#open(operation, route, { ...call, headers: streamHeaders(call) });
    if (!isEventStream(response)) {
      yield this.#received(operation, await this.#result(response, call));
      return;
    }
    for await (const { id, event, data } of parseSse(chunks(response, call.signal), this.#http)) {
      const json = parseJson(data);
      // Mid-stream errors have no agreed form: some come as an event of that name, some as an `error` member.
      if (event === "error" || (isObject(json) && "error" in json)) {
        throw withRetryAfter(fromRestError(statusIn(json), json), response);
      }
      yield this.#received(operation, json, id);
    }
  }

  #received(operation: StreamOperation, json: unknown, id?: string): Received {
    const event = this.#dialect.decodeResult(operation, json);
    return this.#dialect.isLast(json) ? { id, event, isLast: true } : { id, event };
  }

  /** The specification's text subscribes with POST and its proto with GET; servers have one, the other or both. */
  async #open(operation: StreamOperation, route: RestCall, call: Call): Promise<Response> {
    const accept = `text/event-stream, ${JSON_TYPES}`;
    const response = await this.#send(route, accept, call);
    if (operation !== "SubscribeToTask" || (response.status !== 404 && response.status !== 405))
      return response;
    const error = await this.#failure(response, call);
    if (error.reason !== "NOT_FOUND" && error.reason !== "METHOD_NOT_ALLOWED") throw error;
    return this.#send({ method: "GET", path: route.path }, accept, call);
  }

  #send({ method, path, query, body }: RestCall, accept: string, call: Call): Promise<Response> {
    const url = `${this.#url}${path}${query ? search(query) : ""}`;
    const outgoing: Outgoing = { ...call, method, url, accept };
    if (body === undefined) return request(this.#http, outgoing);
    return request(this.#http, {
      ...outgoing,
      contentType: "application/json",
      body: JSON.stringify(body),
    });
  }

  async #result(response: Response, call: Call): Promise<unknown> {
    if (!response.ok) throw await this.#failure(response, call);
    const text = await readAnswer(this.#http, response, call.signal);
    // What has nothing to say may say nothing, as a deletion does.
    const json = text === "" ? null : parseJson(text);
    if (json === undefined) throw failureOf(response, json);
    return json;
  }

  async #failure(response: Response, { signal }: Call): Promise<A2AError> {
    const text = await readAnswer(this.#http, response, signal);
    return withRetryAfter(failureOf(response, parseJson(text)), response);
  }
}

function search(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size > 0 ? `?${parameters.toString()}` : "";
}

/** The HTTP status that an error in a stream would have had outside of one. */
function statusIn(json: unknown): number {
  const error = isObject(json) && isObject(json["error"]) ? json["error"] : json;
  const code = isObject(error) ? error["code"] : undefined;
  return typeof code === "number" && code >= 400 && code < 600 ? code : 500;
}
