import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, inputRequired } from "../../agents/adapters/index.ts";
import { bearer } from "../auth/index.ts";
import { createServer, type Server } from "../index.ts";

const ADA_TOKEN = "token-of-ada-0123456789";
const BOB_TOKEN = "token-of-bob-0123456789";

/** Requests of the simple dialect that name a task. */
const TASK_REQUESTS = {
  "tasks/get": (taskId: string) => ({ method: "tasks/get", params: { taskId } }),
  "message/send": (taskId: string) => ({ method: "message/send", params: { ...messageParams, taskId } }),
  "message/stream": (taskId: string) => ({ method: "message/stream", params: { ...messageParams, taskId } }),
  events: (taskId: string) => taskId,
} as const;

const messageParams = { message: { role: "user", parts: [{ kind: "text", text: "And now?" }] } };

describe("the simple dialect, with several callers", () => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const asker = agent({ name: "asker", description: "Asks back" }, async function* () {
      yield inputRequired("Which?");
    });
    const tokens = { [ADA_TOKEN]: { principal: "ada" }, [BOB_TOKEN]: { principal: "bob" } };
    server = createServer({ asker }, { store: "memory", authenticate: bearer({ tokens }) });
    ({ url } = await server.listen());
  });
  afterAll(() => server.close({ graceMs: 50 }));

  async function ask(what: string | { method: string; params: object }, token?: string): Promise<Response> {
    const headers = {
      "content-type": "application/json",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    };
    if (typeof what === "string") return fetch(`${url}/a2a/asker/tasks/${what}/events`, { headers });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...what });
    return fetch(`${url}/a2a/asker`, { method: "POST", headers, body });
  }

  const create = async (): Promise<string> => {
    const response = await ask({ method: "tasks/create", params: { skill: "ask", input: {} } }, ADA_TOKEN);
    return ((await response.json()) as { result: { taskId: string } }).result.taskId;
  };

  it.each(Object.entries(TASK_REQUESTS))("%s does not reveal another caller's task [E13]", async (_, way) => {
    const taskId = await create();
    const unknown = taskId.replace(/.{4}$/, "0000");
    const fetchReplies = async (id: string): Promise<unknown> => {
      const response = await ask(way(id), BOB_TOKEN);
      const { date: _date, ...headers } = Object.fromEntries(response.headers);
      return { status: response.status, headers, body: (await response.text()).replaceAll(id, "the task") };
    };
    expect(await fetchReplies(taskId)).toEqual(await fetchReplies(unknown));
    const own = await ask(way(taskId), ADA_TOKEN);
    expect(own.status).toBe(200);
    await own.body?.cancel();
  });

  it("requires credentials [M-01, M-11]", async () => {
    for (const way of Object.values(TASK_REQUESTS)) {
      const refused = await ask(way("t"));
      expect([refused.status, refused.headers.has("www-authenticate")]).toEqual([401, true]);
    }
  });
});
