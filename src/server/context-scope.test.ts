import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, inputRequired } from "../agents/adapters/index.ts";
import type { Caller, ContextScope } from "../engine/index.ts";
import type { OperationName } from "../protocol/index.ts";
import { createServer, type CallerAgentAccess, type MountedHandler, type Server } from "./index.ts";
import { countRuns } from "../../test/support/count-runs.ts";

const ADA: Caller = { tenant: "", principal: "ada" };
const NAMESPACE = "tab-0001";
const [RED, GREEN, BLUE] = ["context-red", "context-green", "context-blue"] as const;
const CONTEXT_IDS = [RED, GREEN, BLUE, `${NAMESPACE}.own`, "tab-0001x.other", "tab-0002.other"];
const AGENT_IDS = ["first", "second"];
const WEBHOOK_URL = "http://127.0.0.1:9/hook";

interface TestTask {
  readonly id: string;
  readonly contextId: string;
  readonly agentId: string;
}

let server: Server;
let lastAccess: CallerAgentAccess;
const tasks: TestTask[] = [];

const accessKeeper: MountedHandler = {
  matchesPath: (path) => path === "/keep-access",
  handle: async (_, createCallerContext) => {
    lastAccess = await createCallerContext();
    return new Response("kept");
  },
};

/** An agent that answers with a text that is known only in its context, and asks back. */
const createSecretAgent = (name: string): ReturnType<typeof agent> =>
  agent({ name, description: "Keeps secrets" }, async function* (run) {
    const referenced = await run.loadReferencedTasks();
    yield `secret of ${run.contextId}, refers to ${JSON.stringify(referenced.map(({ id }) => id))}`;
    yield inputRequired("And then?");
  });

let messageCount = 0;
const buildMessage = (more: object = {}): object => ({
  message: { messageId: `m-${++messageCount}`, role: "ROLE_USER", parts: [{ text: "Hello" }], ...more },
});

async function call(caller: Caller, agentId: string, method: string, params: object): Promise<string> {
  const response = await server.fetch(
    new Request(`http://localhost/a2a/${agentId}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "a2a-version": "1.0",
        "x-caller": JSON.stringify(caller),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    }),
  );
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return await response.text();
  const reader = response.body?.getReader();
  const chunk = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(chunk?.value as Uint8Array | undefined);
}

const PARAMS_BY_OPERATION: Record<OperationName, (taskId: string, contextId: string) => object> = {
  SendMessage: (taskId) => buildMessage({ taskId }),
  SendStreamingMessage: (taskId) => buildMessage({ taskId }),
  GetTask: (id) => ({ id }),
  ListTasks: (_, contextId) => ({ contextId, includeArtifacts: true }),
  CancelTask: (id) => ({ id }),
  SubscribeToTask: (id) => ({ id }),
  GetExtendedAgentCard: () => ({}),
  CreateTaskPushNotificationConfig: (taskId) => ({ taskId, id: "new", url: WEBHOOK_URL }),
  GetTaskPushNotificationConfig: (taskId) => ({ taskId, id: "hook" }),
  ListTaskPushNotificationConfigs: (taskId) => ({ taskId }),
  DeleteTaskPushNotificationConfig: (taskId) => ({ taskId, id: "hook" }),
};

/** Returns everything that the principal can read about a task. */
async function readAll({ id, agentId }: TestTask): Promise<string[]> {
  return [
    await call(ADA, agentId, "GetTask", { id }),
    await call(ADA, agentId, "ListTaskPushNotificationConfigs", { taskId: id }),
  ];
}

const arbitraryScope: fc.Arbitrary<ContextScope> = fc.record(
  {
    contextIds: fc.subarray([...CONTEXT_IDS, "unused"]),
    namespace: fc.constant(NAMESPACE),
    agentIds: fc.subarray(AGENT_IDS),
  },
  { requiredKeys: ["contextIds"] },
);

function isInside({ contextIds, namespace, agentIds }: ContextScope, task: TestTask): boolean {
  const isContextInside =
    contextIds.includes(task.contextId) || (namespace !== undefined && task.contextId === `${NAMESPACE}.own`);
  return isContextInside && (agentIds?.includes(task.agentId) ?? true);
}

describe("a caller whose credentials are limited to contexts", () => {
  beforeAll(async () => {
    server = createServer(Object.fromEntries(AGENT_IDS.map((id) => [id, createSecretAgent(id)])), {
      store: "memory",
      authenticate: ({ header }) => JSON.parse(header("x-caller") ?? "null") as Caller,
      push: { allowPrivate: true },
      observer: false,
      mountedHandlers: [accessKeeper],
    });
    for (const agentId of AGENT_IDS)
      for (const contextId of CONTEXT_IDS) {
        const body = await call(ADA, agentId, "SendMessage", buildMessage({ contextId }));
        const { id } = (JSON.parse(body) as { result: { task: { id: string } } }).result.task;
        await call(ADA, agentId, "CreateTaskPushNotificationConfig", {
          taskId: id,
          id: "hook",
          url: WEBHOOK_URL,
        });
        tasks.push({ id, contextId, agentId });
      }
  });
  afterAll(() => server.close({ graceMs: 50 }));

  it("neither reads nor changes tasks outside, for random scopes and operations [SEC-70]", async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryScope,
        fc.constantFrom(...(Object.keys(PARAMS_BY_OPERATION) as OperationName[])),
        fc.nat(tasks.length - 1),
        async (contextScope, operation, at) => {
          const target = tasks[at] as TestTask;
          const limited: Caller = { ...ADA, contextScope };
          const unknown = { ...target, id: target.id.replace(/.{4}$/, "0000"), contextId: "never-used" };
          const outside = tasks.filter((task) => !isInside(contextScope, task));
          const before = await Promise.all(outside.map(readAll));
          const ask = async ({ id, contextId, agentId }: TestTask): Promise<string> =>
            (await call(limited, agentId, operation, PARAMS_BY_OPERATION[operation](id, contextId)))
              .replaceAll(id, "TASK")
              .replaceAll(contextId, "CONTEXT")
              .replaceAll(/m-\d+/g, "MESSAGE");

          const answer = await ask(target);
          if (outside.includes(target)) expect(answer).toEqual(await ask(unknown));
          for (const { id, contextId } of outside) {
            expect(answer).not.toContain(id);
            if (!tasks.some((task) => task.contextId === contextId && isInside(contextScope, task)))
              expect(answer).not.toContain(`secret of ${contextId},`);
          }
          expect(await Promise.all(outside.map(readAll))).toEqual(before);
        },
      ),
      { numRuns: countRuns(50, 300) },
    );
  });

  it("lists the tasks of named contexts in the order of all lists, page by page", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(CONTEXT_IDS),
        fc.integer({ min: 1, max: 4 }),
        async (contextIds, pageSize) => {
          const list = async (caller: Caller): Promise<{ id: string; contextId: string }[]> => {
            const listed: { id: string; contextId: string }[] = [];
            for (let pageToken = ""; ;) {
              const body = await call(caller, "first", "ListTasks", { pageSize, pageToken });
              const { result } = JSON.parse(body) as {
                result: { tasks?: { id: string; contextId: string }[]; nextPageToken?: string };
              };
              listed.push(...(result.tasks ?? []));
              pageToken = result.nextPageToken ?? "";
              if (pageToken === "") return listed;
            }
          };
          const expected = (await list(ADA)).filter(({ contextId }) => contextIds.includes(contextId));
          const limited = await list({ ...ADA, contextScope: { contextIds } });
          expect(limited.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("starts a context only in the namespace of the credentials, and then may use the context", async () => {
    const without: Caller = { ...ADA, contextScope: { contextIds: [RED] } };
    const denied = await call(without, "first", "SendMessage", buildMessage());
    expect(denied).toContain("PERMISSION_DENIED");
    expect(denied).toContain('request a token for the \\"contextId\\" of the message');
    expect(await call(without, "first", "SendMessage", buildMessage({ contextId: GREEN }))).toContain(
      "PERMISSION_DENIED",
    );

    const within: Caller = { ...ADA, contextScope: { contextIds: [], namespace: "tab-start" } };
    const message = buildMessage();
    const read = async (params: object): Promise<{ id: string; contextId: string }> => {
      const body = await call(within, "first", "SendMessage", params);
      return (JSON.parse(body) as { result: { task: { id: string; contextId: string } } }).result.task;
    };
    const task = await read(message);
    expect(task.contextId).toMatch(/^tab-start\.[0-9a-f]{32}$/);
    // A repeated message belongs to the same context.
    expect(await read(message)).toEqual(task);
    expect(await read(buildMessage({ contextId: task.contextId }))).toMatchObject({
      contextId: task.contextId,
    });
    expect(await call(within, "first", "GetTask", { id: task.id })).toContain(task.id);
  });

  it("reads no referenced tasks outside", async () => {
    const [red, green] = [RED, GREEN].map((name) =>
      tasks.find(({ contextId, agentId }) => contextId === name && agentId === "first"),
    ) as [TestTask, TestTask];
    const referenceTaskIds = [red.id, green.id];
    const caller: Caller = { ...ADA, contextScope: { contextIds: [RED] } };
    const body = await call(
      caller,
      "first",
      "SendMessage",
      buildMessage({ contextId: RED, referenceTaskIds }),
    );
    expect(body).toContain(`refers to ${JSON.stringify(JSON.stringify([red.id])).slice(1, -1)}`);
  });

  it("learns nothing about a message of another context with the same id, except that the id is used", async () => {
    const used = buildMessage({ contextId: GREEN }) as { message: { messageId: string } };
    const body = await call(ADA, "first", "SendMessage", used);
    const { id } = (JSON.parse(body) as { result: { task: { id: string } } }).result.task;
    const caller: Caller = { ...ADA, contextScope: { contextIds: [RED], namespace: "tab-repeat" } };
    const { messageId } = used.message;
    for (const more of [{}, { contextId: RED }]) {
      const answer = await call(caller, "first", "SendMessage", buildMessage({ messageId, ...more }));
      expect(answer).toContain("was already used for a different message");
      expect(answer).not.toContain(id);
      expect(answer).not.toContain(GREEN);
    }
  });

  it("cannot select a tenant, because the contexts belong to one tenant", async () => {
    const caller: Caller = { ...ADA, contextScope: { contextIds: [RED] } };
    const answer = await call(caller, "first", "ListTasks", { tenant: "acme" });
    expect(answer).toContain("PERMISSION_DENIED");
  });

  it("gets no access from an invalid limit of an untyped authenticate function", async () => {
    for (const contextScope of [null, {}, { contextIds: "red" }, { contextIds: [], namespace: "" }]) {
      const answer = await call({ ...ADA, contextScope: contextScope as never }, "first", "ListTasks", {});
      expect(answer).toContain(`"code":-32603`);
    }
  });

  it("reads the task log of a mounted handler only in its contexts", async () => {
    const caller: Caller = { ...ADA, contextScope: { contextIds: [RED], agentIds: ["first"] } };
    const headers = { "x-caller": JSON.stringify(caller) };
    await server.fetch(new Request("http://localhost/keep-access", { headers }));
    const access = lastAccess.tasks;
    for (const { id, contextId, agentId } of tasks) {
      const isOwn = contextId === RED && agentId === "first";
      expect((await access.readEvents(agentId, id, 0)).length > 0).toBe(isOwn);
      const page = await access.list({ agent: agentId, contextId, limit: 9 });
      expect(page.tasks.length > 0).toBe(isOwn);
    }
    await expect(access.list({ limit: 9 })).rejects.toMatchObject({ reason: "PERMISSION_DENIED" });
  });
});
