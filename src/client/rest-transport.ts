import {
  A2AError,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type OperationName,
  type Operations,
} from "../protocol/index.ts";
import { fromRestError, parseSse, v1 } from "../wire/index.ts";
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

interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: object;
  readonly body?: object;
}

/** Where each operation goes (A2A §11.3), tenant aside. */
const ROUTES: { readonly [O in OperationName]: (params: Operations[O]["params"]) => Route } = {
  SendMessage: (body) => ({ method: "POST", path: "/message:send", body }),
  SendStreamingMessage: (body) => ({ method: "POST", path: "/message:stream", body }),
  GetTask: ({ id, ...query }: GetTaskRequest) => ({
    method: "GET",
    path: `/tasks/${encodeURIComponent(id)}`,
    query,
  }),
  ListTasks: (query: ListTasksRequest) => ({ method: "GET", path: "/tasks", query }),
  CancelTask: ({ id, ...body }: CancelTaskRequest) => ({
    method: "POST",
    path: `/tasks/${encodeURIComponent(id)}:cancel`,
    body,
  }),
  SubscribeToTask: ({ id }) => ({
    method: "POST",
    path: `/tasks/${encodeURIComponent(id)}:subscribe`,
    body: {},
  }),
  GetExtendedAgentCard: () => ({ method: "GET", path: "/extendedAgentCard" }),
  CreateTaskPushNotificationConfig: ({ taskId, ...body }) => ({
    method: "POST",
    path: configsOf(taskId),
    body,
  }),
  GetTaskPushNotificationConfig: ({ taskId, id }) => ({ method: "GET", path: configsOf(taskId, id) }),
  ListTaskPushNotificationConfigs: ({ taskId, ...query }) => ({
    method: "GET",
    path: configsOf(taskId),
    query,
  }),
  DeleteTaskPushNotificationConfig: ({ taskId, id }) => ({ method: "DELETE", path: configsOf(taskId, id) }),
};

function configsOf(taskId: string, id?: string): string {
  const configs = `/tasks/${encodeURIComponent(taskId)}/pushNotificationConfigs`;
  return id === undefined ? configs : `${configs}/${encodeURIComponent(id)}`;
}

/** A2A §11. */
export class RestTransport implements Transport {
  readonly #http: Http;
  readonly #url: string;

  constructor(http: Http, url: string) {
    this.#http = http;
    this.#url = url.replace(/\/+$/, "");
  }

  async call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: Call,
  ): Promise<Operations[O]["result"]> {
    const response = await this.#send(ROUTES[operation](params), params.tenant, JSON_TYPES, call);
    return v1.decodeResult(operation, await this.#result(response, call));
  }

  async *stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCall,
  ): AsyncGenerator<Received, void, undefined> {
    const route = ROUTES[operation](params);
    const response = await this.#open(operation, route, params.tenant, {
      ...call,
      headers: streamHeaders(call),
    });
    if (!isEventStream(response)) {
      yield { event: v1.decodeResult(operation, await this.#result(response, call)) };
      return;
    }
    for await (const { id, event, data } of parseSse(chunks(response, call.signal), this.#http)) {
      const json = parseJson(data);
      // Mid-stream errors have no agreed form: some come as an event of that name, some as an `error` member.
      if (event === "error" || (isObject(json) && "error" in json)) {
        throw withRetryAfter(fromRestError(statusIn(json), json), response);
      }
      yield { id, event: v1.decodeResult(operation, json) };
    }
  }

  /** The specification's text subscribes with POST and its proto with GET; servers have one, the other or both. */
  async #open(
    operation: StreamOperation,
    route: Route,
    tenant: string | undefined,
    call: Call,
  ): Promise<Response> {
    const accept = `text/event-stream, ${JSON_TYPES}`;
    const response = await this.#send(route, tenant, accept, call);
    if (operation !== "SubscribeToTask" || (response.status !== 404 && response.status !== 405))
      return response;
    const error = await this.#failure(response, call);
    if (error.reason !== "NOT_FOUND" && error.reason !== "METHOD_NOT_ALLOWED") throw error;
    return this.#send({ method: "GET", path: route.path }, tenant, accept, call);
  }

  #send(route: Route, tenant: string | undefined, accept: string, call: Call): Promise<Response> {
    const { method, path, query, body } = route;
    // The tenant travels in the path; once is enough (A2A §8.3.2).
    const place = tenant === undefined ? "" : `/${encodeURIComponent(tenant)}`;
    const url = `${this.#url}${place}${path}${query ? search(query) : ""}`;
    const outgoing: Outgoing = { ...call, method, url, accept };
    if (body === undefined) return request(this.#http, outgoing);
    const text = JSON.stringify({ ...body, tenant: undefined });
    return request(this.#http, { ...outgoing, contentType: "application/json", body: text });
  }

  async #result(response: Response, call: Call): Promise<unknown> {
    if (!response.ok) throw await this.#failure(response, call);
    const text = await readText(this.#http, response, call.signal);
    const json = parseJson(text);
    if (json === undefined) throw failureOf(response, json);
    return json;
  }

  async #failure(response: Response, { signal }: Call): Promise<A2AError> {
    const text = await readText(this.#http, response, signal);
    return withRetryAfter(failureOf(response, parseJson(text)), response);
  }
}

function search(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (name !== "tenant" && value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size > 0 ? `?${parameters.toString()}` : "";
}

/** The HTTP status that an error in a stream would have had outside of one. */
function statusIn(json: unknown): number {
  const error = isObject(json) && isObject(json["error"]) ? json["error"] : json;
  const code = isObject(error) ? error["code"] : undefined;
  return typeof code === "number" && code >= 400 && code < 600 ? code : 500;
}
