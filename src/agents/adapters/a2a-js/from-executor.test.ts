import { AgentCard, Message as SdkMessage, Part as SdkPart, Role, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  RequestContext,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { publishToA2aJsEventBus } from "../../../client/publish-to-a2a-js-event-bus.fixture.ts";
import { collect, connect, type A2AClient } from "../../../client/index.ts";
import type { Run } from "../../../engine/index.ts";
import {
  data,
  text,
  getText,
  type Message,
  type StreamResponse,
  type Task,
} from "../../../protocol/index.ts";
import { bearer } from "../../../server/auth/index.ts";
import { createServer, type Server, type ServerOptions } from "../../../server/index.ts";
import { getArtifactTextWithoutReasoning, requireTask } from "../adapter.contract.ts";
import { type ExecutorOptions, fromExecutor } from "./index.ts";
import { unstoredRunSteps } from "../../../engine/unstored-run-steps.fixture.ts";

const card = AgentCard.fromJSON({
  name: "executor",
  description: "For tests",
  version: "2.0.0",
  supportedInterfaces: [{ url: "http://elsewhere.example", protocolBinding: "JSONRPC" }],
  capabilities: { streaming: true },
  defaultInputModes: ["text", "data", "task-status"],
  defaultOutputModes: ["text", "task-status"],
  skills: [{ id: "test", name: "Test", description: "Tests", tags: ["test"], outputModes: ["task-status"] }],
});

type Execute = AgentExecutor["execute"];
type CancelTask = AgentExecutor["cancelTask"];

let server: Server | undefined;
let reportedErrors: string[] = [];
afterEach(() => server?.close({ graceMs: 0 }));

async function connectToExecutor(
  execute: Execute,
  { cancelTask = () => Promise.resolve(), ...options }: ServerOptions & { cancelTask?: CancelTask } = {},
  how: ExecutorOptions = {},
): Promise<A2AClient> {
  reportedErrors = [];
  const onError = ({ error }: { error: unknown }): void => void reportedErrors.push((error as Error).message);
  const served = fromExecutor({ execute, cancelTask }, card, how);
  server = createServer(served, { store: "memory", observer: { onError }, ...options });
  return connect((await server.listen()).url);
}

type TaskIds = Pick<RequestContext, "taskId" | "contextId">;
const pickTaskIds = ({ taskId, contextId }: TaskIds): TaskIds => ({ taskId, contextId });

const createStatusUpdate = (
  { taskId, contextId }: TaskIds,
  state: string,
  words?: string,
): StreamResponse => {
  const message = {
    messageId: crypto.randomUUID(),
    role: "ROLE_AGENT" as const,
    parts: [{ text: words ?? "" }],
  };
  const reported = {
    state: `TASK_STATE_${state}` as Task["status"]["state"],
    timestamp: new Date().toISOString(),
  };
  return {
    statusUpdate: { taskId, contextId, status: words === undefined ? reported : { ...reported, message } },
  };
};

const createSubmittedTask = ({ taskId, contextId }: RequestContext): StreamResponse => ({
  task: { id: taskId, contextId, status: { state: "TASK_STATE_SUBMITTED" } },
});

describe("an AgentExecutor on the Colloquy engine", () => {
  it("keeps the description of its card, but not its interfaces", async () => {
    const { card } = await connectToExecutor(async () => {});
    expect(card).toMatchObject({ name: "executor", version: "2.0.0", defaultInputModes: ["text", "data"] });
    expect(card.skills).toEqual([{ id: "test", name: "Test", description: "Tests", tags: ["test"] }]);
    expect(JSON.stringify(card)).not.toContain("elsewhere");
  });

  it("receives the same request context as in the SDK", async () => {
    const contexts: RequestContext[] = [];
    const remote = await connectToExecutor(async (context, bus) => {
      contexts.push(context);
      if (context.task) publishToA2aJsEventBus(bus, createStatusUpdate(context, "COMPLETED"));
      else publishToA2aJsEventBus(bus, createStatusUpdate(context, "INPUT_REQUIRED", "And?"));
    });
    const first = await requireTask(
      remote.send([text("hi"), data(null)], {
        metadata: { trace: 1 },
        configuration: { acceptedOutputModes: ["text/plain"], historyLength: 3 },
      }),
    );
    await remote.send(
      { parts: [text("go on")], referenceTaskIds: [first.id, "unknown-task"] },
      { taskId: first.id },
    );
    const [one, two] = contexts as [RequestContext, RequestContext];
    expect(one).toBeInstanceOf(RequestContext);
    expect(one.context).toBeInstanceOf(ServerCallContext);
    expect([one.taskId, one.contextId, one.task]).toEqual([first.id, first.contextId, undefined]);
    expect(one.userMessage).toMatchObject({ taskId: first.id, role: Role.ROLE_USER });
    expect(one.userMessage.parts.map(({ content }) => content)).toEqual([
      { $case: "text", value: "hi" },
      { $case: "data", value: null },
    ]);
    expect(one.request.metadata).toEqual({ trace: 1 });
    expect(one.request.configuration).toMatchObject({
      acceptedOutputModes: ["text/plain"],
      historyLength: 3,
    });
    expect(one.context.requestedVersion).toBe("1.0");
    expect([one.context.user?.isAuthenticated, one.context.tenant]).toEqual([false, undefined]);
    expect(two.task).toMatchObject({ id: first.id, status: { state: TaskState.TASK_STATE_INPUT_REQUIRED } });
    expect(two.task?.history.map(({ parts }) => parts.at(-1)?.content)).toEqual([
      { $case: "data", value: null },
      { $case: "text", value: "And?" },
      { $case: "text", value: "go on" },
    ]);
    expect(two.referenceTasks?.map(({ id }) => id)).toEqual([first.id]);
  });

  it("receives the caller's name", async () => {
    let user: string | undefined;
    server = createServer(
      fromExecutor(
        {
          execute: async (context, bus) => {
            user = context.context.user?.isAuthenticated ? context.context.user.userName : "unknown";
            publishToA2aJsEventBus(bus, createStatusUpdate(context, "COMPLETED"));
          },
          cancelTask: () => Promise.resolve(),
        },
        card,
      ),
      { store: "memory", authenticate: bearer({ tokens: { "token-of-ada-0123": "ada" } }) },
    );
    const { url } = await server.listen();
    await (await connect(url, { auth: { bearer: "token-of-ada-0123" } })).send("hi");
    expect(user).toBe("ada");
  });

  it("may answer without a task", async () => {
    const remote = await connectToExecutor(async ({ contextId }, bus) => {
      const output = SdkMessage.fromJSON({ messageId: "m", role: "ROLE_AGENT", contextId });
      const nothing = { content: { $case: "data" as const, value: null }, metadata: undefined };
      bus.publish(AgentEvent.message({ ...output, parts: [{ ...nothing, filename: "", mediaType: "" }] }));
    });
    expect(await remote.send("hi")).toMatchObject({
      message: { messageId: "m", role: "ROLE_AGENT", parts: [{ data: null }] },
    });
  });

  it("may end a task with a message, which becomes the final status message", async () => {
    const remote = await connectToExecutor(async (context, bus) => {
      publishToA2aJsEventBus(bus, createSubmittedTask(context));
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "WORKING"));
      const { contextId } = context;
      publishToA2aJsEventBus(bus, {
        message: { messageId: "m", role: "ROLE_AGENT", contextId, parts: [text("Done.")] },
      });
    });
    expect((await requireTask(remote.send("hi"))).status).toMatchObject({
      state: "TASK_STATE_COMPLETED",
      message: { messageId: "m", parts: [{ text: "Done." }] },
    });
  });

  it("may publish its complete result as one task", async () => {
    const remote = await connectToExecutor(async ({ taskId, contextId, userMessage }, bus) => {
      const output: Message = { messageId: "a", role: "ROLE_AGENT", parts: [text("I looked.")] };
      const received = SdkMessage.toJSON(userMessage) as Message;
      publishToA2aJsEventBus(bus, {
        task: {
          id: taskId,
          contextId,
          status: { state: "TASK_STATE_COMPLETED" },
          artifacts: [{ artifactId: "r", name: "Result", parts: [text("Blue.")] }],
          history: [received, output],
          metadata: { cost: 3 },
        },
      });
    });
    const task = await requireTask(remote.send("sky?"));
    expect(task).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ artifactId: "r", name: "Result", parts: [{ text: "Blue." }] }],
      metadata: { cost: 3 },
    });
    expect(task.history?.map(({ parts }) => getText(parts))).toEqual(["sky?", "I looked."]);
  });

  it("emits nothing for an unchanged task", async () => {
    const remote = await connectToExecutor(async (context, bus) => {
      if (!context.task) {
        publishToA2aJsEventBus(bus, createSubmittedTask(context));
        publishToA2aJsEventBus(bus, {
          artifactUpdate: { ...pickTaskIds(context), artifact: { artifactId: "a", parts: [text("One.")] } },
        });
        publishToA2aJsEventBus(bus, createStatusUpdate(context, "INPUT_REQUIRED", "More?"));
        return;
      }
      bus.publish(AgentEvent.task(context.task));
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "WORKING"));
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "COMPLETED"));
    });
    const asked = await requireTask(remote.send("hi"));
    const events: StreamResponse[] = [];
    for await (const event of remote.stream("yes", { taskId: asked.id })) events.push(event);
    const updates = events.filter((event) => !("task" in event));
    expect(updates.some((event) => "artifactUpdate" in event)).toBe(false);
    expect(updates.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(getArtifactTextWithoutReasoning(await remote.tasks.get(asked.id))).toBe("One.");
  });

  it("emits a status at once, even if it only publishes the task", async () => {
    const gate = Promise.withResolvers<void>();
    const remote = await connectToExecutor(async (context, bus) => {
      publishToA2aJsEventBus(bus, createSubmittedTask(context));
      await gate.promise;
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "COMPLETED"));
    });
    const begun = await requireTask(remote.send("go", { configuration: { returnImmediately: true } }));
    expect(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]).toContain(begun.status.state);
    gate.resolve();
    const done = await requireTask(
      collect(remote.tasks.subscribe(begun.id))
        .catch(() => ({}))
        .then(async () => ({ task: await remote.tasks.get(begun.id) })),
    );
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("receives its own events on its bus, and cannot detach the adapter", async () => {
    const received: string[] = [];
    const remote = await connectToExecutor(async (context, bus) => {
      bus.on("event", ({ kind }) => received.push(kind));
      bus.once("finished", () => received.push("finished"));
      publishToA2aJsEventBus(bus, createSubmittedTask(context));
      bus.removeAllListeners("event");
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "COMPLETED", "Still here."));
      bus.finished();
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "WORKING"));
    });
    const { status } = await requireTask(remote.send("hi"));
    expect(getText(status.message?.parts ?? [])).toBe("Still here.");
    expect(received).toEqual(["task", "finished"]);
    expect(reportedErrors).toEqual([]);
  });

  it("completes a task that is still working when it returns", async () => {
    const remote = await connectToExecutor(async (context, bus) =>
      publishToA2aJsEventBus(bus, createSubmittedTask(context)),
    );
    expect((await requireTask(remote.send("hi"))).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("may continue after it has asked for authorization", async () => {
    const gate = Promise.withResolvers<void>();
    const remote = await connectToExecutor(async (context, bus) => {
      publishToA2aJsEventBus(bus, createSubmittedTask(context));
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "AUTH_REQUIRED", "Sign in."));
      await gate.promise;
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "WORKING"));
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "COMPLETED"));
    });
    const asked = await requireTask(remote.send("hi"));
    expect(asked.status.state).toBe("TASK_STATE_AUTH_REQUIRED");
    gate.resolve();
    for await (const event of remote.tasks.subscribe(asked.id)) {
      if ("statusUpdate" in event && event.statusUpdate.status.state === "TASK_STATE_COMPLETED") break;
    }
    expect((await remote.tasks.get(asked.id)).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("reports an error after its final event", async () => {
    const remote = await connectToExecutor(async (context, bus) => {
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "COMPLETED"));
      throw new Error("could not clean up");
    });
    expect((await requireTask(remote.send("hi"))).status.state).toBe("TASK_STATE_COMPLETED");
    await server?.close({ graceMs: 0 });
    expect(reportedErrors).toEqual(["could not clean up"]);
  });

  it("may not publish events of another task", async () => {
    const remote = await connectToExecutor(async (context, bus) => {
      publishToA2aJsEventBus(
        bus,
        createStatusUpdate({ ...pickTaskIds(context), taskId: "other" }, "COMPLETED"),
      );
    });
    const { status } = await requireTask(remote.send("hi", { configuration: {} }));
    expect(status.state).toBe("TASK_STATE_FAILED");
    expect(getText(status.message?.parts ?? [])).toContain('of task "other"');
  });

  it("may publish many events at once, up to a limit", async () => {
    const burst =
      (count: number): Execute =>
      async (context, bus) => {
        publishToA2aJsEventBus(bus, createSubmittedTask(context));
        const part = SdkPart.fromJSON({ text: "x" });
        for (let n = 0; n < count; n++) {
          const artifact = {
            artifactId: "a",
            name: "",
            description: "",
            parts: [part],
            metadata: undefined,
            extensions: [],
          };
          bus.publish(
            AgentEvent.artifactUpdate({
              ...pickTaskIds(context),
              artifact,
              append: n > 0,
              lastChunk: false,
              metadata: undefined,
            }),
          );
        }
        publishToA2aJsEventBus(bus, createStatusUpdate(context, "COMPLETED"));
      };
    const task = await requireTask((await connectToExecutor(burst(5_000))).send("go"));
    expect([task.status.state, getArtifactTextWithoutReasoning(task).length]).toEqual([
      "TASK_STATE_COMPLETED",
      5_000,
    ]);
    await server?.close({ graceMs: 0 });
    const failed = await requireTask((await connectToExecutor(burst(20_000))).send("go"));
    expect(getText(failed.status.message?.parts ?? [])).toContain("more than 10000 events at once");
  });

  const working =
    (stop: Promise<void>): Execute =>
    async (context, bus) => {
      publishToA2aJsEventBus(bus, createSubmittedTask(context));
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "WORKING"));
      await stop;
      publishToA2aJsEventBus(bus, createStatusUpdate(context, "CANCELED"));
    };

  it("does not cancel its task when the server closes", async () => {
    const stop = Promise.withResolvers<void>();
    const cancelled: string[] = [];
    const remote = await connectToExecutor(working(stop.promise), {
      cancelTask: async (taskId: string) => {
        cancelled.push(taskId);
        stop.resolve();
      },
    });
    const events: StreamResponse[] = [];
    for await (const event of remote.stream("go")) {
      events.push(event);
      if ("statusUpdate" in event && event.statusUpdate.status.state === "TASK_STATE_WORKING")
        void server?.close();
    }
    expect(cancelled.length).toBe(1);
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_FAILED" } } });
  });

  it("may publish the cancellation in cancelTask", async () => {
    let contextId = "";
    const remote = await connectToExecutor(
      async (context, bus) => {
        ({ contextId } = context);
        publishToA2aJsEventBus(bus, createSubmittedTask(context));
        await new Promise(() => {});
      },
      {
        cancelGraceMs: 50,
        cancelTask: async (taskId: string, bus: ExecutionEventBus) =>
          publishToA2aJsEventBus(bus, {
            statusUpdate: { taskId, contextId, status: { state: "TASK_STATE_CANCELED" } },
          }),
      },
    );
    const { id } = await requireTask(remote.send("go", { configuration: { returnImmediately: true } }));
    expect((await remote.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
  });

  it("fails only the task if cancelTask throws", async () => {
    const remote = await connectToExecutor(working(new Promise(() => {})), {
      cancelTask: () => Promise.reject(new Error("not now")),
    });
    const { id } = await requireTask(remote.send("go", { configuration: { returnImmediately: true } }));
    expect((await remote.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
  });
});

describe("an executor whose turn was canceled before it started", () => {
  it("is not executed", async () => {
    let begun = 0;
    const executor = { execute: async () => void begun++, cancelTask: async () => {} };
    const gone = new AbortController();
    const run = {
      taskId: "t",
      contextId: "c",
      message: { messageId: "m", role: "ROLE_USER", parts: [text("hi")], referenceTaskIds: ["other"] },
      task: { id: "t", contextId: "c", status: { state: "TASK_STATE_SUBMITTED" } },
      attempt: 1,
      caller: { tenant: "", principal: "" },
      configuration: {},
      isStreaming: true,
      metadata: {},
      protocolVersion: "1.0",
      extensions: [],
      signal: gone.signal,
      // The store is slow, and the task is canceled in the meantime.
      ...unstoredRunSteps,
      loadReferencedTasks: () => {
        gone.abort(new Error("gone"));
        return Promise.resolve([]);
      },
      listInterruptedTasks: () => Promise.resolve([]),
    } as const satisfies Run;
    const output = fromExecutor(executor, card).execute(run)[Symbol.asyncIterator]();
    await expect(output.next()).rejects.toThrow("gone");
    expect(begun).toBe(0);
  });
});

describe("fromExecutor with version 0.3 of the SDK", () => {
  it("states the required version", async () => {
    vi.resetModules();
    vi.doMock("@a2a-js/sdk", () => import("a2a-js-sdk-0.3"));
    vi.doMock("@a2a-js/sdk/server", () => import("a2a-js-sdk-0.3/server"));
    try {
      const adapter = await import("./index.ts");
      const executor = { execute: async () => {}, cancelTask: async () => {} };
      expect(() => adapter.fromExecutor(executor, card)).toThrow(
        "fromExecutor requires version 1 of @a2a-js/sdk, but version 0.3 is installed. Run: npm install @a2a-js/sdk@1",
      );
    } finally {
      vi.doUnmock("@a2a-js/sdk");
      vi.doUnmock("@a2a-js/sdk/server");
      vi.resetModules();
    }
  });
});
