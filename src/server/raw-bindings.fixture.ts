import type { JsonObject } from "../protocol/index.ts";
import { JsonGrpcTestClient, readGrpcTestStream } from "./bindings/json-grpc-test-client.fixture.ts";
import { readServerSentTestEvents, V1_JSON_TEST_HEADERS } from "./server.fixture.ts";

type UnaryTestOperation = "SendMessage" | "GetTask" | "CancelTask";
type StreamTestOperation = "SendStreamingMessage" | "SubscribeToTask";

/** The response to one raw request. */
export interface RawTestResponse {
  /** The result, or the events of the stream. */
  readonly results: readonly JsonObject[];
  /** The error reason, or `undefined` if the request succeeds. */
  readonly reason?: string | undefined;
  /** The header with the active extensions. */
  readonly active?: string | undefined;
  /** The response as it is sent, except for gRPC, whose response is JSON again. */
  readonly text: string;
}

/** Sends requests over one binding without the client of this library. */
export interface RawTestBinding {
  readonly name: string;
  request(
    operation: UnaryTestOperation | StreamTestOperation,
    params: JsonObject,
    headers?: Record<string, string>,
  ): Promise<RawTestResponse>;
  close(): void;
}

export const RAW_TEST_BINDING_FACTORIES = {
  JSONRPC: (url: string): RawTestBinding => ({
    name: "JSONRPC",
    async request(method, params, headers = {}) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      return await post(url, body, headers, ({ result }) => result);
    },
    close: () => {},
  }),
  "HTTP+JSON": (url: string): RawTestBinding => ({
    name: "HTTP+JSON",
    async request(operation, { id, ...params }, headers = {}) {
      const task = `${url}/tasks/${typeof id === "string" ? id : ""}`;
      const body = JSON.stringify(params);
      if (operation === "GetTask") return await post(task, undefined, headers, (json) => json);
      const paths = {
        SendMessage: `${url}/message:send`,
        SendStreamingMessage: `${url}/message:stream`,
        SubscribeToTask: `${task}:subscribe`,
        CancelTask: `${task}:cancel`,
      };
      return await post(paths[operation], body, headers, (json) => json);
    },
    close: () => {},
  }),
  GRPC(_url: string, grpcPort: number): RawTestBinding {
    const client = new JsonGrpcTestClient(grpcPort);
    return {
      name: "GRPC",
      async request(operation, params, headers = {}) {
        if (operation === "SendStreamingMessage" || operation === "SubscribeToTask") {
          const stream = client.openStream(operation, params, headers);
          const { events, ended } = await readGrpcTestStream(stream);
          return {
            results: events,
            reason: ended && findErrorReason(JSON.stringify(ended)),
            text: JSON.stringify(events),
          };
        }
        const { answer, ended, headers: sent } = await client.callUnary(operation, params, headers);
        const active = sent?.get("a2a-extensions").join(", ");
        return {
          results: answer ? [answer] : [],
          reason: ended && findErrorReason(JSON.stringify(ended)),
          active,
          text: JSON.stringify(answer),
        };
      },
      close: () => client.close(),
    };
  },
} as const;

async function post(
  url: string,
  body: string | undefined,
  headers: Record<string, string>,
  getResult: (json: JsonObject) => unknown,
): Promise<RawTestResponse> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { ...V1_JSON_TEST_HEADERS, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const active = response.headers.get("a2a-extensions") ?? undefined;
  const text = await response.clone().text();
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const answers = isStream
    ? (await readServerSentTestEvents(response)).map(({ data }) => data as JsonObject)
    : [JSON.parse(text) as JsonObject];
  if (text.includes('"error"')) return { results: [], reason: findErrorReason(text), active, text };
  return { results: answers.map((json) => getResult(json) as JsonObject), active, text };
}

/** Returns the reason in an error. An error with violations has no reason. */
function findErrorReason(error: string): string | undefined {
  return error.includes("BadRequest") ? "INVALID_PARAMS" : /"reason":"(\w+)"/.exec(error)?.[1];
}
