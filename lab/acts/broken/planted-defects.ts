import type { ProxiedRequest, ProxiedResponse, BrokenServer } from "./servers.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- The changes reach deep into JSON whose shape the good server guarantees.
type Json = any;

const onJson =
  (change: (json: Json, request: ProxiedRequest) => void) =>
  (response: ProxiedResponse, request: ProxiedRequest): ProxiedResponse => {
    if (!response.contentType.includes("json") || response.body === "") return response;
    const json: Json = JSON.parse(response.body);
    change(json, request);
    return { ...response, body: JSON.stringify(json) };
  };

const isCard = ({ path }: ProxiedRequest): boolean => path.includes("agent-card.json");
const onCard = (change: (card: Json) => void): NonNullable<BrokenServer["changeResponse"]> =>
  onJson((json, request) => {
    if (isCard(request)) change(json);
  });
const isCall = ({ body }: ProxiedRequest, method: string): boolean => body.includes(`"method":"${method}"`);
const onCall = (
  method: string,
  change: (result: Json, json: Json) => void,
): NonNullable<BrokenServer["changeResponse"]> =>
  onJson((json, request) => {
    if (isCall(request, method)) change(json.result, json);
  });

const jsonrpc = { binding: "jsonrpc" } as const;

/** Defects that the rules for any agent must notice, whatever the agent answers. */
export const PLANTED_DEFECTS: readonly BrokenServer[] = [
  {
    ...jsonrpc,
    name: "lacks the version in its card",
    seenBy: "ANY-CARD-SHAPE",
    changeResponse: onCard((card) => delete card.version),
  },
  {
    ...jsonrpc,
    name: "has two skills with one id",
    seenBy: "ANY-CARD-SKILLS",
    changeResponse: onCard((card) =>
      card.skills.push({ ...card.skills[0], id: "x" }, { ...card.skills[0], id: "x" }),
    ),
  },
  {
    ...jsonrpc,
    name: "requires a scheme that the card does not declare",
    seenBy: "ANY-CARD-SECURITY",
    changeResponse: onCard((card) => {
      card.securityRequirements = [{ schemes: { missing: { list: [] } } }];
    }),
  },
  {
    ...jsonrpc,
    name: "returns states in lower case",
    seenBy: "ANY-SEND-SHAPE",
    changeResponse: onCall("SendMessage", (result) => {
      result.task.status.state = "completed";
    }),
  },
  {
    ...jsonrpc,
    name: "responds to messages before the task has ended",
    seenBy: "ANY-SEND-BLOCKING",
    changeResponse: onCall("SendMessage", (result) => {
      result.task.status.state = "TASK_STATE_WORKING";
    }),
  },
  {
    ...jsonrpc,
    name: "returns tasks without a context id",
    seenBy: "ANY-SEND-CONTEXT",
    changeResponse: onCall("SendMessage", (result) => delete result.task.contextId),
  },
  {
    ...jsonrpc,
    name: "returns tasks with snake case members",
    seenBy: "ANY-SEND-SHAPE",
    changeResponse: onCall("SendMessage", (result) => {
      result.task.context_id = result.task.contextId;
    }),
  },
  {
    ...jsonrpc,
    name: "returns an outdated state",
    seenBy: "ANY-GET-SAME",
    changeResponse: onCall("GetTask", (result) => {
      if (result) result.status.state = "TASK_STATE_WORKING";
    }),
  },
  {
    ...jsonrpc,
    name: "ignores the length of the history",
    seenBy: "ANY-GET-HISTORY",
    changeRequest: (request) => ({ ...request, body: request.body.replace(/,"historyLength":\d+/, "") }),
    changeResponse: onCall("GetTask", (result) => {
      const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
      if (result) result.history = [message, message];
    }),
  },
  {
    ...jsonrpc,
    name: "lists tasks without a page token",
    seenBy: "ANY-LIST-SHAPE",
    changeResponse: onCall("ListTasks", (result) => delete result.nextPageToken),
  },
  {
    ...jsonrpc,
    name: "lists artifacts that nobody asked for",
    seenBy: "ANY-LIST-ARTIFACTS",
    changeResponse: onCall("ListTasks", (result) => {
      for (const task of result.tasks) task.artifacts = [{ artifactId: "a", parts: [{ text: "hi" }] }];
    }),
  },
  {
    ...jsonrpc,
    name: "cancels tasks that have ended",
    seenBy: "ANY-CANCEL-TERMINAL",
    changeRequest: (request) => ({
      ...request,
      body: request.body.replace('"method":"CancelTask"', '"method":"GetTask"'),
    }),
  },
  {
    ...jsonrpc,
    name: "creates tasks with the ids of clients",
    seenBy: "ANY-SEND-MISSING-TASK",
    changeRequest: (request) => ({
      ...request,
      body: isCall(request, "SendMessage") ? request.body.replace(/"taskId":"[^"]*",?/, "") : request.body,
    }),
  },
  {
    ...jsonrpc,
    name: "reports messages to ended tasks as invalid parameters",
    seenBy: "ANY-SEND-TERMINAL",
    changeResponse: onJson((json) => {
      if (json.error?.code === -32_004) json.error.code = -32_602;
    }),
  },
  {
    ...jsonrpc,
    name: "closes streams before the last event",
    seenBy: "ANY-STREAM-END",
    keepsEvent: (event) => !/TASK_STATE_(COMPLETED|FAILED|CANCELED)/.test(event),
  },
  {
    ...jsonrpc,
    name: "sends updates before the task",
    seenBy: "ANY-STREAM-START",
    keepsEvent: (event) => !event.includes('"task":{'),
  },
  {
    ...jsonrpc,
    name: "loses an event of an artifact",
    seenBy: "ANY-STREAM-STORED",
    changeResponse: onCall("GetTask", (result) => {
      if (result) result.artifacts = [];
      if (result) result.status.state = "TASK_STATE_COMPLETED";
    }),
  },
  {
    ...jsonrpc,
    name: "returns another id than that of the request",
    seenBy: "ANY-RPC-ID",
    changeResponse: onJson((json) => {
      if ("id" in json && "jsonrpc" in json) json.id = String(json.id);
    }),
  },
  {
    ...jsonrpc,
    name: "compares the patch number of versions",
    seenBy: "ANY-VERSION-PATCH",
    changeRequest: (request) =>
      request.headers["a2a-version"] === "1.0.9"
        ? { ...request, headers: { ...request.headers, "a2a-version": "9.9" } }
        : request,
  },
  {
    ...jsonrpc,
    name: "sends JSON as text",
    seenBy: "ANY-MEDIA",
    changeResponse: (response, request) =>
      isCard(request) ? response : { ...response, contentType: "text/plain" },
  },
  {
    ...jsonrpc,
    name: "accepts subscriptions to ended tasks",
    seenBy: "ANY-SUBSCRIBE-TERMINAL",
    changeRequest: (request) => ({
      ...request,
      body: request.body.replace('"method":"SubscribeToTask"', '"method":"GetTask"'),
    }),
  },
];
