import type { Agent, AgentEvent, Run } from "../engine/index.ts";
import { getText, type Task } from "../protocol/index.ts";
import type { Server, ServerOptions } from "./index.ts";

/** An endpoint that sends test requests to a server. */
export interface TestEndpoint {
  readonly url: string;
  send(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/**
 * An agent that runs the command in its message: `echo …`, `chunks n`, `ask`, `wait` (until aborted), or
 * `throw`.
 */
export const messageCommandTestAgent: Agent = {
  describe: () => ({
    name: "parrot",
    description: "Repeats.",
    skills: [{ id: "repeat", name: "Repeat", description: "Repeats.", tags: ["test"] }],
  }),
  async *execute({ message, signal }: Run): AsyncGenerator<AgentEvent> {
    const [what = "", ...rest] = getText(message.parts).split(" ");
    yield { status: { state: "TASK_STATE_WORKING" } };
    if (what === "ask")
      yield { status: { state: "TASK_STATE_INPUT_REQUIRED", message: { parts: [{ text: "what?" }] } } };
    if (what === "throw") throw new Error("secret");
    if (what === "wait")
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    const chunks = what === "chunks" ? Number(rest[0]) : what === "echo" ? 1 : 0;
    for (let at = 0; at < chunks; at++) {
      const text = what === "echo" ? rest.join(" ") : `${at} `;
      yield { artifact: { artifactId: "a", parts: [{ text }] }, ...(at > 0 ? { append: true } : {}) };
    }
  },
};

export const V1_TEST_HEADERS = { "a2a-version": "1.0" };
export const V1_JSON_TEST_HEADERS: Record<string, string> = {
  ...V1_TEST_HEADERS,
  "content-type": "application/json",
};
let lastTestMessageNumber = 0;
/** Returns a message with a new id. */
export const buildTestMessage = (text: string, more: object = {}): object => ({
  messageId: `m${++lastTestMessageNumber}`,
  role: "ROLE_USER",
  parts: [{ text }],
  ...more,
});

export interface JsonRpcTestResponse {
  id: unknown;
  result?: Record<string, unknown> & { task?: Task };
  error?: {
    code: number;
    message: string;
    data?: { "@type": string; reason?: string; fieldViolations?: { field: string }[] }[];
  };
}

/** Reads a complete stream and returns the id and the data of each server-sent event. */
export async function readServerSentTestEvents(
  response: Response,
): Promise<{ id: number | undefined; data: unknown }[]> {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame.includes("data: "));
  return frames.map((frame) => {
    const id = /^id: (\d+)$/m.exec(frame)?.[1];
    return {
      id: id === undefined ? undefined : Number(id),
      data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "null"),
    };
  });
}

/** Starts a server and returns an endpoint of one kind, such as a socket or `fetch`. */
export type TestServerFactory = (
  agents: Record<string, Agent>,
  options?: ServerOptions,
) => Promise<{ endpoint: TestEndpoint; server: Server }>;

/**
 * A test client for a server with two agents: `messageCommandTestAgent`, and `silent`, which supports neither streaming
 * nor push notifications.
 */
export class TestClient {
  endpoint!: TestEndpoint;

  async startServer(open: TestServerFactory): Promise<void> {
    const silent: Agent = {
      ...messageCommandTestAgent,
      describe: () => ({
        name: "silent",
        description: "Does not stream, and sends nothing.",
        capabilities: { streaming: false, pushNotifications: false },
      }),
    };
    ({ endpoint: this.endpoint } = await open(
      { parrot: messageCommandTestAgent, silent },
      { store: "memory" },
    ));
  }

  readonly callJsonRpc = async (
    method: string,
    params?: object,
    headers: Record<string, string> = {},
    path = "/",
  ): Promise<JsonRpcTestResponse> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, ...(params ? { params } : {}) });
    const response = await this.endpoint.send(path, {
      method: "POST",
      headers: { ...V1_JSON_TEST_HEADERS, ...headers },
      body,
    });
    return (await response.json()) as JsonRpcTestResponse;
  };

  readonly postJson = (
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    this.endpoint.send(path, {
      method: "POST",
      headers: { ...V1_JSON_TEST_HEADERS, ...headers },
      body: JSON.stringify(body),
    });

  readonly createTask = async (text: string): Promise<Task> =>
    ((await this.callJsonRpc("SendMessage", { message: buildTestMessage(text) })).result?.task ?? {}) as Task;
}
