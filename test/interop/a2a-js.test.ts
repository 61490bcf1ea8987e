/**
 * Tests all operations of the official JavaScript client, an independent implementation, against our server
 * with every store.
 */
import { Role, TaskState, type StreamResponse } from "@a2a-js/sdk";
import { JsonRpcTransportFactory, RestTransportFactory, type Client } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, inputRequired, reply } from "../../src/agents/adapters/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { STORE_FACTORIES } from "../support/store-factories.ts";
import {
  collectEvents,
  createSdkClient,
  createTextRequest,
  listArtifactTexts,
  requireTask,
} from "./sdk-client.ts";

const storyWords = ["Once ", "upon ", "a ", "time"];

/** An agent that follows the instruction in the text. */
const textDrivenAgent = agent(
  { name: "actor", description: "Does what the text says" },
  async function* ({ text, signal, history }) {
    if (text === "reply") yield reply("a plain answer");
    else if (text === "ask") yield inputRequired("Which city?");
    else if (text === "wait") {
      yield "waiting";
      await once(signal, "abort");
    } else if (text === "stream") yield* storyWords;
    else yield `heard ${history.map(({ parts }) => JSON.stringify(parts[0])).join(" and ")}`;
  },
  { respondsWith: "either" },
);

const BINDINGS = {
  JSONRPC: new JsonRpcTransportFactory(),
  "HTTP+JSON": new RestTransportFactory(),
  GRPC: new GrpcTransportFactory(),
} as const;

describe.each(STORE_FACTORIES)("the client of @a2a-js/sdk, with tasks in $name", ({ openStore }) => {
  describe.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)("over %s", (binding) => {
    let server: Server;
    let client: Client;
    let closeStore: () => Promise<void>;

    beforeAll(async () => {
      const { store, remove } = await openStore();
      closeStore = remove;
      server = createServer({ actor: textDrivenAgent }, { store });
      const { url } = await server.listen({ grpc: true });
      client = await createSdkClient(url, binding, BINDINGS[binding]);
    });
    afterAll(async () => {
      await server.close();
      await closeStore();
    });

    it("reads the card and chooses its binding [A-01, A-02, A-03, A-04]", async () => {
      const card = await client.getAgentCard();
      expect(card).toMatchObject({ name: "actor", description: "Does what the text says" });
      expect(client.transport.protocolName).toBe(binding);
      expect(client.protocolVersion).toBe("1.0");
    });

    it("sends a message and gets the completed task [F-01, F-02]", async () => {
      const task = requireTask(await client.sendMessage(createTextRequest("hello")));
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(listArtifactTexts(task)).toEqual([`heard {"text":"hello"}`]);
    });

    it("sends a message and gets a message [F-01]", async () => {
      const answer = await client.sendMessage(createTextRequest("reply"));
      expect(answer).toMatchObject({
        role: Role.ROLE_AGENT,
        parts: [{ content: { value: "a plain answer" } }],
      });
    });

    it("streams a message and gets every chunk, in order, once [G-01, G-02, G-03, G-08]", async () => {
      const events = await collectEvents(client.sendMessageStream(createTextRequest("stream")));
      expect(events[0]?.payload?.$case).toBe("task");
      expect(listChunkTexts(events).join("")).toBe(storyWords.join(""));
      const { taskId, contextId } = requireUpdate(events[1]);
      expect(taskId).toBe(getTaskId(events[0]));
      for (const event of events.slice(1)) expect(requireUpdate(event)).toMatchObject({ taskId, contextId });
      expect(findLastState(events)).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    it("streams a message and gets a message alone [G-01]", async () => {
      const events = await collectEvents(client.sendMessageStream(createTextRequest("reply")));
      expect(events.map((event) => event.payload?.$case)).toEqual(["message"]);
    });

    it("answers a question within the task [F-06, F-15]", async () => {
      const question = requireTask(await client.sendMessage(createTextRequest("ask")));
      expect(question.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      const done = requireTask(await client.sendMessage(createTextRequest("Paris", { taskId: question.id })));
      expect(done).toMatchObject({ id: question.id, contextId: question.contextId });
      expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    it("begins a new task in the context of a finished one [F-08, F-20]", async () => {
      const { id, contextId } = requireTask(await client.sendMessage(createTextRequest("first")));
      const next = requireTask(await client.sendMessage(createTextRequest("second", { contextId })));
      expect(next.contextId).toBe(contextId);
      expect(next.id).not.toBe(id);
    });

    it("gets a task, with as much history as it asks for [F-30, F-31]", async () => {
      const { id } = requireTask(await client.sendMessage(createTextRequest("keep")));
      const task = await client.getTask({ tenant: "", id });
      expect(listArtifactTexts(task)).toEqual([`heard {"text":"keep"}`]);
      expect(task.history).toHaveLength(1);
      expect((await client.getTask({ tenant: "", id, historyLength: 0 })).history).toEqual([]);
    });

    it("receives an error for an unknown task [F-30]", async () => {
      await expect(client.getTask({ tenant: "", id: "none" })).rejects.toMatchObject({
        name: "TaskNotFoundError",
      });
    });

    it("lists the tasks of a context, a page at a time [F-32, F-33, F-34]", async () => {
      const contextId = `context-${binding}`;
      const ids: string[] = [];
      for (const text of ["a", "b", "c"])
        ids.push(requireTask(await client.sendMessage(createTextRequest(text, { contextId }))).id);

      const query = { ...LIST_REQUEST, contextId, pageSize: 2 };
      const first = await client.listTasks(query);
      expect(first).toMatchObject({ pageSize: 2, totalSize: 3 });
      const second = await client.listTasks({ ...query, pageToken: first.nextPageToken });
      expect(second).toMatchObject({ nextPageToken: "", totalSize: 3 });
      expect([...first.tasks, ...second.tasks].map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    });

    it("subscribes to a running task, and cancels it [F-40, F-50, E8]", async () => {
      const stream = client.sendMessageStream(createTextRequest("wait"));
      const opened = await stream.next();
      const id = getTaskId(opened.value as StreamResponse);
      const subscription = client.resubscribeTask({ tenant: "", id });
      const snapshot = (await subscription.next()).value as StreamResponse;
      expect(snapshot.payload).toMatchObject({ $case: "task", value: { id } });

      const canceled = await client.cancelTask({ tenant: "", id, metadata: undefined });
      expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
      for (const reader of [stream, subscription])
        expect(findLastState(await collectEvents(reader))).toBe(TaskState.TASK_STATE_CANCELED);
    });

    it("receives an error for canceling a finished task [F-41]", async () => {
      const { id } = requireTask(await client.sendMessage(createTextRequest("done")));
      await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toMatchObject({
        name: "TaskNotCancelableError",
      });
    });
  });
});

const LIST_REQUEST = {
  tenant: "",
  contextId: "",
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: "",
  statusTimestampAfter: undefined,
};

function listChunkTexts(events: readonly StreamResponse[]): string[] {
  return events.flatMap(({ payload }) =>
    payload?.$case === "artifactUpdate"
      ? (payload.value.artifact?.parts ?? []).map(({ content }) => String(content?.value))
      : [],
  );
}

function getTaskId(event: StreamResponse | undefined): string {
  return event?.payload?.$case === "task" ? event.payload.value.id : "";
}

function requireUpdate(event: StreamResponse | undefined): { taskId: string; contextId: string } {
  const { payload } = event ?? {};
  if (payload?.$case === "statusUpdate" || payload?.$case === "artifactUpdate") return payload.value;
  throw new Error(`expected an update, but received ${payload?.$case}`);
}

function findLastState(events: readonly StreamResponse[]): TaskState | undefined {
  const payload = events.at(-1)?.payload;
  return payload?.$case === "statusUpdate" || payload?.$case === "task"
    ? payload.value.status?.state
    : undefined;
}
