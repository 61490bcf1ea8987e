import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { isObject } from "../protocol/index.ts";

/** How the hostile server answers: with a valid result, with an error, or with a body that is not JSON. */
export type HostileAnswer = "result" | "error" | "status" | "garbage";

export interface HostileServer {
  readonly url: string;
  /** Text that each string of the next answers contains. */
  setText(text: string, answer: HostileAnswer): void;
  close(): void;
}

/** Members whose values a client does not print, or must know. */
const FIXED_MEMBERS = new Set([
  "url",
  "protocolBinding",
  "protocolVersion",
  "state",
  "role",
  "raw",
  "jsonrpc",
]);

/** Starts a server whose card, tasks, errors, and streams contain a hostile text in each string. */
export async function startHostileServer(): Promise<HostileServer> {
  let hostile = "";
  let kind: HostileAnswer = "result";
  const poison = (value: unknown, member = ""): unknown => {
    if (typeof value === "string") return FIXED_MEMBERS.has(member) ? value : `${value}${hostile}`;
    if (Array.isArray(value)) return value.map((item) => poison(item, member));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, poison(item, name)]));
  };
  const http = createServer((incoming, outgoing) => {
    void readText(incoming).then((body) => {
      if (incoming.method === "GET" && kind !== "garbage") {
        const card = poison(createCard(`http://${incoming.headers.host}`));
        return outgoing.setHeader("content-type", "application/json").end(JSON.stringify(card));
      }
      if (kind === "garbage") return outgoing.end(`<html>${hostile}`);
      if (incoming.method === "OPTIONS") return outgoing.writeHead(405).end();
      const { id, method } = JSON.parse(body) as { id: unknown; method: string };
      if (kind !== "result") {
        const error = poison({ code: -32001, message: "no", data: [{ "@type": "t", reason: "x" }] });
        if (kind === "status") outgoing.statusCode = 500;
        return outgoing
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      }
      const results = RESULTS[method] ?? [{}];
      const responses = results.map((result) =>
        JSON.stringify({ jsonrpc: "2.0", id, result: poison(result) }),
      );
      if (!STREAMING_METHODS.has(method))
        return outgoing.setHeader("content-type", "application/json").end(responses[0]);
      outgoing.setHeader("content-type", "text/event-stream");
      return outgoing.end(responses.map((response) => `data: ${response}\n\n`).join(""));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    setText(text, answer) {
      hostile = text;
      kind = answer;
    },
    close() {
      http.closeAllConnections();
      http.close();
    },
  };
}

const STREAMING_METHODS = new Set(["SendStreamingMessage", "SubscribeToTask"]);

function createCard(origin: string): object {
  return {
    name: "evil",
    description: "evil",
    version: "1",
    documentationUrl: "evil",
    provider: { organization: "evil", url: `${origin}/` },
    supportedInterfaces: [{ protocolBinding: "JSONRPC", protocolVersion: "1.0", url: origin }],
    capabilities: { streaming: true, pushNotifications: true, extensions: [{ uri: "evil" }] },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "evil", name: "evil", description: "evil", tags: ["evil"] }],
  };
}

const MESSAGE = {
  messageId: "m",
  contextId: "c",
  role: "ROLE_AGENT",
  parts: [
    { text: "evil", mediaType: "text/evil", metadata: { evil: "evil" } },
    { data: { evil: "evil" } },
    { url: "http://evil.example/", filename: "evil" },
    { raw: "eA==", filename: "evil" },
  ],
  metadata: { evil: "evil" },
  extensions: ["evil"],
};

const ARTIFACT = { artifactId: "a", name: "evil", description: "evil", parts: MESSAGE.parts };
const STATUS = { state: "TASK_STATE_COMPLETED", message: MESSAGE };
const TASK = {
  id: "t",
  contextId: "c",
  status: STATUS,
  artifacts: [ARTIFACT],
  history: [MESSAGE],
  metadata: { evil: "evil" },
};
const WEBHOOK = {
  id: "w",
  taskId: "t",
  url: "http://evil.example/",
  token: "evil",
  authentication: { scheme: "evil" },
};

/** Results by method. A streaming method returns several results. */
const RESULTS: Readonly<Record<string, readonly object[]>> = {
  SendMessage: [{ task: TASK }],
  SendStreamingMessage: [
    { task: { ...TASK, status: { state: "TASK_STATE_WORKING" } } },
    { artifactUpdate: { taskId: "t", contextId: "c", artifact: ARTIFACT } },
    { statusUpdate: { taskId: "t", contextId: "c", status: STATUS, metadata: { evil: "evil" } } },
  ],
  SubscribeToTask: [{ task: TASK }],
  GetTask: [TASK],
  CancelTask: [TASK],
  ListTasks: [{ tasks: [TASK], nextPageToken: "evil", pageSize: 1, totalSize: 1 }],
  CreateTaskPushNotificationConfig: [WEBHOOK],
  GetTaskPushNotificationConfig: [WEBHOOK],
  ListTaskPushNotificationConfigs: [{ configs: [WEBHOOK], nextPageToken: "evil" }],
};
