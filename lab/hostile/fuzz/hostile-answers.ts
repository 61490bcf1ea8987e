import { createRandomFromText } from "../seeded-random.ts";
import { HOSTILE_TEXTS } from "./hostile-values.ts";
import { mutateJson, mutateText } from "./mutate-json.ts";
import { drawElement, drawInteger, type RandomSource } from "./random-choice.ts";

/** What the fuzzed client does with the hostile server. */
export const CLIENT_OPERATIONS = [
  "connect",
  "send",
  "stream",
  "ask",
  "get",
  "list",
  "cancel",
  "subscribe",
  "push",
  "extended card",
] as const;
export type ClientOperation = (typeof CLIENT_OPERATIONS)[number];

/** Protocols of the interface in the card of the hostile server. */
const PROTOCOLS = ["1.0 JSONRPC", "1.0 HTTP+JSON", "0.3 JSONRPC", "0.3 HTTP+JSON"] as const;
type HostileProtocol = (typeof PROTOCOLS)[number];

/** One round of the client fuzzer: an operation and the answers that the server sends. In the form of the corpus. */
export interface HostileRound {
  readonly operation: ClientOperation;
  readonly card: HostileAnswer;
  readonly answer: HostileAnswer;
}

/** An HTTP response of the hostile server. `$ORIGIN` in the body is the URL of the server. */
export interface HostileAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the server declares a longer body and then destroys the connection. */
  readonly isCut?: boolean;
}

const V1_TASK = {
  id: "t-1",
  contextId: "c-1",
  status: {
    state: "TASK_STATE_COMPLETED",
    timestamp: "2026-01-01T00:00:00Z",
    message: { messageId: "m-2", role: "ROLE_AGENT", parts: [{ text: "done" }] },
  },
  artifacts: [
    {
      artifactId: "a-1",
      name: "answer",
      parts: [
        { text: "hello" },
        { data: { x: 1 } },
        { raw: "aGk=", mediaType: "text/plain" },
        { url: "https://example.com/f" },
      ],
      metadata: {},
    },
  ],
  history: [{ messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hi" }] }],
  metadata: { a: 1 },
};
const V1_EVENTS = [
  { task: { ...V1_TASK, status: { state: "TASK_STATE_WORKING" } } },
  {
    artifactUpdate: {
      taskId: "t-1",
      contextId: "c-1",
      artifact: V1_TASK.artifacts[0],
      append: false,
      lastChunk: true,
    },
  },
  { statusUpdate: { taskId: "t-1", contextId: "c-1", status: V1_TASK.status } },
];
const V1_PUSH_CONFIG = { taskId: "t-1", id: "p-1", url: "https://example.com/hook" };

const V03_TASK = {
  kind: "task",
  id: "t-1",
  contextId: "c-1",
  status: { state: "completed", timestamp: "2026-01-01T00:00:00Z" },
  artifacts: [
    {
      artifactId: "a-1",
      parts: [
        { kind: "text", text: "hello" },
        { kind: "file", file: { bytes: "aGk=" } },
      ],
    },
  ],
  history: [{ kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text: "hi" }] }],
};
const V03_EVENTS = [
  { ...V03_TASK, status: { state: "working" } },
  { kind: "artifact-update", taskId: "t-1", contextId: "c-1", artifact: V03_TASK.artifacts[0] },
  { kind: "status-update", taskId: "t-1", contextId: "c-1", status: V03_TASK.status, final: true },
];
const V03_PUSH_CONFIG = {
  taskId: "t-1",
  pushNotificationConfig: { id: "p-1", url: "https://example.com/hook" },
};

const ERRORS = [
  {
    code: -32001,
    message: "not found",
    data: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "TASK_NOT_FOUND",
        domain: "a2a-protocol.org",
        metadata: { a: "b" },
      },
    ],
  },
  {
    code: -32602,
    message: "invalid",
    data: [
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [{ field: "a", description: "b" }],
      },
    ],
  },
  {
    code: -32000,
    message: "busy",
    data: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1s" }],
  },
];

/** Returns the round at an index, which depends only on the seed. */
export function createHostileRound(seed: string, index: number): HostileRound {
  const random = createRandomFromText(`${seed}/client/${index}`);
  const protocol = drawElement(random, PROTOCOLS);
  const operation = drawElement(random, CLIENT_OPERATIONS);
  const card = createCard(protocol, operation !== "extended card" || random() < 0.5);
  const mutatesCard = operation === "connect" || random() < 0.1;
  return {
    operation,
    card: mutatesCard
      ? mutateHttp(random, {
          status: 200,
          headers: { "content-type": "application/json" },
          body: mutateJson(random, card),
        })
      : { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(card) },
    answer: createAnswer(random, protocol, operation),
  };
}

function createCard(protocol: HostileProtocol, extendedAgentCard: boolean): object {
  const [version, protocolBinding] = protocol.split(" ");
  const shared = {
    name: "hostile",
    description: "Sends hostile answers",
    version: "1",
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "s", name: "S", description: "d", tags: ["t"], examples: ["e"] }],
    provider: { organization: "o", url: "https://example.com" },
    signatures: [{ protected: "e30", signature: "AAAA" }],
  };
  const capabilities = { streaming: true, pushNotifications: true };
  if (version === "1.0")
    return {
      ...shared,
      capabilities: { ...capabilities, extendedAgentCard },
      supportedInterfaces: [{ url: "$ORIGIN", protocolBinding, protocolVersion: "1.0" }],
      securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name: "x-key" } } },
    };
  return {
    ...shared,
    capabilities,
    protocolVersion: "0.3.0",
    url: "$ORIGIN",
    preferredTransport: protocolBinding,
    additionalInterfaces: [{ url: "$ORIGIN", transport: protocolBinding }],
    supportsAuthenticatedExtendedCard: extendedAgentCard,
    securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } },
  };
}

function createAnswer(
  random: RandomSource,
  protocol: HostileProtocol,
  operation: ClientOperation,
): HostileAnswer {
  const isJsonRpc = protocol.endsWith("JSONRPC");
  const wrap = (result: unknown): unknown => (isJsonRpc ? { jsonrpc: "2.0", id: 1, result } : result);
  if (random() < 0.1) {
    const error = drawElement(random, ERRORS);
    const body = isJsonRpc
      ? { jsonrpc: "2.0", id: 1, error }
      : { error: { ...error, code: 404, details: error.data } };
    return mutateHttp(random, {
      status: isJsonRpc ? 200 : drawElement(random, [400, 401, 404, 429, 500, 503]),
      headers: { "content-type": "application/json", "retry-after": drawElement(random, ["0", "x", "-1"]) },
      body: mutateJson(random, body),
    });
  }
  if (operation === "stream" || operation === "subscribe" || (operation === "ask" && random() < 0.5)) {
    const events = protocol.startsWith("1.0") ? V1_EVENTS : V03_EVENTS;
    return mutateHttp(random, {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: createEventStream(random, events.map(wrap)),
    });
  }
  return mutateHttp(random, {
    status: 200,
    headers: { "content-type": "application/json" },
    body: mutateJson(random, wrap(getResult(protocol, operation))),
  });
}

function getResult(protocol: HostileProtocol, operation: ClientOperation): unknown {
  const isV1 = protocol.startsWith("1.0");
  if (operation === "list") return { tasks: [V1_TASK], nextPageToken: "", pageSize: 50, totalSize: 1 };
  if (operation === "push") return isV1 ? V1_PUSH_CONFIG : V03_PUSH_CONFIG;
  if (operation === "extended card") return createCard(protocol, true);
  if (operation === "send" || operation === "ask")
    return isV1 ? { task: V1_TASK } : protocol.endsWith("JSONRPC") ? V03_TASK : { task: V03_TASK };
  return isV1 ? V1_TASK : V03_TASK;
}

function createEventStream(random: RandomSource, events: readonly unknown[]): string {
  const frames = events.map((event, at) => {
    const data = random() < 0.5 ? mutateJson(random, event) : JSON.stringify(event);
    const id =
      random() < 0.8
        ? String(at + 1)
        : drawElement(random, ["-1", "x", "99999999999999999999", "1", "\u0000"]);
    const end = drawElement(random, ["\n\n", "\n\n", "\n\n", "\r\n\r\n", "\r\r", "\n", ""]);
    const prefix = drawElement(random, [
      "",
      "",
      "",
      ": comment\n",
      "retry: 0\n",
      "event: error\n",
      "x".repeat(300),
      "data:\n",
    ]);
    return `${prefix}id: ${id}\ndata: ${data}${end}`;
  });
  const order = drawElement(random, [
    () => frames,
    () => frames.toReversed(),
    () => [...frames, ...frames],
    () => frames.slice(0, drawInteger(random, frames.length + 1)),
    () => frames.slice(1),
  ])();
  return random() < 0.1 ? mutateText(random, order.join("")) : order.join("");
}

/** Changes the status, the headers, or the length of one response in seven. */
function mutateHttp(random: RandomSource, answer: HostileAnswer): HostileAnswer {
  if (random() < 0.85) return answer;
  const text = drawElement(random, HOSTILE_TEXTS)
    .replace(/[^\u0020-\u007E]/g, "")
    .slice(0, 2000);
  return drawElement<() => HostileAnswer>(random, [
    () => ({
      ...answer,
      status: drawElement(random, [201, 204, 205, 206, 226, 299, 400, 403, 418, 429, 500, 599]),
    }),
    () => ({
      ...answer,
      status: 302,
      headers: {
        location: drawElement(random, ["$ORIGIN/loop", "/", "", "javascript:1", "http://[::1", text]),
      },
    }),
    () => ({
      ...answer,
      headers: {
        ...answer.headers,
        "content-type": drawElement(random, ["text/html", "", "application/json; charset=x", text]),
      },
    }),
    () => ({
      ...answer,
      headers: { ...answer.headers, "content-encoding": drawElement(random, ["gzip", "br", "deflate", "x"]) },
    }),
    () => ({
      ...answer,
      status: 401,
      headers: { "www-authenticate": drawElement(random, ["Bearer", `Bearer realm="`, ",,,=", text]) },
    }),
    () => ({
      ...answer,
      status: 503,
      headers: { "retry-after": drawElement(random, ["0", "-5", "1e9", "Fri, 99 Foo", text]) },
    }),
    () => ({
      ...answer,
      headers: { ...answer.headers, "a2a-extensions": text, "cache-control": `max-age=${text}`, etag: text },
    }),
    () => ({ ...answer, isCut: true }),
    () => ({ ...answer, body: "" }),
  ])();
}
