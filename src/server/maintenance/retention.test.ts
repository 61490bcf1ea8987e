import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { STORE_FACTORIES, type TemporaryStore } from "../../../test/support/store-factories.ts";
import { connect, type A2AClient } from "../../client/index.ts";
import type { StreamResponse, Task } from "../../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../index.ts";
import { buildTestMessage, messageCommandTestAgent, readServerSentTestEvents } from "../server.fixture.ts";

/** Deletes everything of an ended task at once, but only on request. */
const ON_REQUEST = { sweepIntervalMs: 2 ** 30 };

describe.each(STORE_FACTORIES)("retention with the $name store", ({ openStore }) => {
  let temporary: TemporaryStore;
  let server: Server;
  let client: A2AClient;
  let url: string;

  beforeEach(async () => {
    temporary = await openStore();
  });

  afterEach(async () => {
    await server.close({ graceMs: 50 });
    await temporary.remove();
  });

  async function startServer(options: Partial<ServerOptions>): Promise<void> {
    server = createServer({ parrot: messageCommandTestAgent }, { store: temporary.store, ...options });
    ({ url } = await server.listen());
    client = await connect(url);
  }

  async function send(message: object): Promise<Task> {
    const response = await client.send(message as never);
    if ("task" in response) return response.task;
    throw new Error("The response has no task.");
  }

  /** Sweeps until a sweep has deleted data of a task. The retention period is one millisecond. */
  const sweepUntilDeleted = (): Promise<void> =>
    vi.waitFor(
      async () => {
        const { deletedTasks, trimmedTasks } = await server.maintenance.sweep();
        expect(deletedTasks + trimmedTasks).toBe(1);
      },
      { timeout: 30_000 },
    );

  async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    const all = { "a2a-version": "1.0", "content-type": "application/json", ...headers };
    return await fetch(`${url}${path}`, { method: "POST", headers: all, body: JSON.stringify(body) });
  }

  describe("after the events of a task are deleted", () => {
    const message = (): object => buildTestMessage("chunks 5");
    let sent: object;
    let task: Task;

    beforeEach(async () => {
      await startServer({ retention: { keepEventsMs: 1, ...ON_REQUEST } });
      sent = message();
      task = await send(sent);
      await sweepUntilDeleted();
    });

    it("GetTask and ListTasks return the complete task", async () => {
      expect(await client.tasks.get(task.id)).toEqual(task);
      expect(await client.tasks.list({ includeArtifacts: true })).toMatchObject({
        tasks: [task],
        totalSize: 1,
      });
    });

    it.each([0, 1, 3])(
      "a stream that resumes after event %i receives the complete task, and ends [E4]",
      async (after) => {
        const response = await post(`/tasks/${task.id}:subscribe`, {}, { "last-event-id": String(after) });
        expect(await readServerSentTestEvents(response)).toEqual([
          { id: expect.any(Number) as number, data: { task } },
        ]);
      },
    );

    it("a client that resumes its subscription receives the complete task", async () => {
      const events: StreamResponse[] = [];
      for await (const event of client.tasks.subscribe(task.id, { after: 2 })) events.push(event);
      expect(events).toEqual([{ task }]);
    });

    it("a message that is sent again returns the same task, also as a stream [E10]", async () => {
      expect(await send(sent)).toEqual(task);
      const response = await post("/message:stream", { message: sent });
      expect(await readServerSentTestEvents(response)).toEqual([
        { id: expect.any(Number) as number, data: { task } },
      ]);
    });

    it("a different message with the same id is rejected [E10]", async () => {
      const other = { ...sent, parts: [{ text: "other" }] };
      await expect(send(other)).rejects.toMatchObject({ reason: "INVALID_PARAMS" });
    });
  });

  describe("after a task is deleted", () => {
    let sent: object;
    let task: Task;

    beforeEach(async () => {
      await startServer({ retention: { keepTasksMs: 1, keepEventsMs: 1, ...ON_REQUEST } });
      sent = buildTestMessage("echo hello");
      task = await send(sent);
      await sweepUntilDeleted();
    });

    it("requests for the task return TASK_NOT_FOUND, and ListTasks omits the task", async () => {
      const notFound = { reason: "TASK_NOT_FOUND" };
      await expect(client.tasks.get(task.id)).rejects.toMatchObject(notFound);
      await expect(client.tasks.cancel(task.id)).rejects.toMatchObject(notFound);
      await expect(send(buildTestMessage("more", { taskId: task.id }))).rejects.toMatchObject(notFound);
      const resumed = await post(`/tasks/${task.id}:subscribe`, {}, { "last-event-id": "1" });
      expect(resumed.status).toBe(404);
      expect(await client.tasks.list()).toMatchObject({ tasks: [], totalSize: 0 });
    });

    it("a message that is sent again starts a new task in the same context", async () => {
      const again = await send({ ...sent, contextId: task.contextId });
      expect(again.id).not.toBe(task.id);
      expect(again).toMatchObject({ contextId: task.contextId, status: { state: "TASK_STATE_COMPLETED" } });
    });
  });

  it("keeps a task that waits for its user until its own period has passed", async () => {
    const waiting = 100_000_000;
    await startServer({
      retention: { keepTasksMs: 1, keepEventsMs: 1, keepWaitingTasksMs: waiting, ...ON_REQUEST },
    });
    const { id } = await send(buildTestMessage("ask"));
    await send(buildTestMessage("echo done"));
    await sweepUntilDeleted();
    expect((await client.tasks.get(id)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  });

  it("deletes nothing with retention: false", async () => {
    await startServer({ retention: false });
    const { id } = await send(buildTestMessage("echo hello"));
    expect(await server.maintenance.sweep()).toMatchObject({ deletedTasks: 0, trimmedTasks: 0 });
    expect((await client.tasks.get(id)).id).toBe(id);
  });

  describe("an erasure", () => {
    it("of a task cancels its running agent, ends its streams, and deletes the task", async () => {
      await startServer({});
      const stream = client.stream(buildTestMessage("wait") as never)[Symbol.asyncIterator]();
      const first = (await stream.next()).value as StreamResponse;
      const taskId = "task" in first ? first.task.id : "";
      const other = await send(buildTestMessage("echo other"));
      expect(await server.maintenance.eraseTasks({ taskId })).toEqual({ erasedTasks: 1 });
      let last: StreamResponse | undefined;
      for (let step = await stream.next(); !step.done; step = await stream.next()) last = step.value;
      expect(last).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_CANCELED" } } });
      await expect(client.tasks.get(taskId)).rejects.toMatchObject({ reason: "TASK_NOT_FOUND" });
      expect((await client.tasks.list()).tasks.map(({ id }) => id)).toEqual([other.id]);
    });

    it("of a context or a principal deletes all of its tasks, and no others", async () => {
      await startServer({
        authenticate: (request) => ({ tenant: "", principal: request.header("x-user") ?? "" }),
      });
      const clients = await Promise.all(
        ["ada", "bob"].map((user) => connect(url, { headers: { "x-user": user } })),
      );
      for (const one of clients)
        for (const contextId of ["first", "first", "second"])
          await one.send(buildTestMessage("ask", { contextId }) as never);
      const countTasks = (): Promise<number[]> =>
        Promise.all(clients.map(async (one) => (await one.tasks.list()).totalSize));
      expect(await countTasks()).toEqual([3, 3]);
      expect(await server.maintenance.eraseTasks({ contextId: "first", principal: "ada" })).toEqual({
        erasedTasks: 2,
      });
      expect(await countTasks()).toEqual([1, 3]);
      expect(await server.maintenance.eraseTasks({ principal: "bob" })).toEqual({ erasedTasks: 3 });
      expect(await countTasks()).toEqual([1, 0]);
    });

    it("without a task, a context, or a principal is rejected", async () => {
      await startServer({});
      await expect(server.maintenance.eraseTasks({ agent: "parrot" })).rejects.toMatchObject({
        reason: "INVALID_PARAMS",
      });
    });
  });
});
