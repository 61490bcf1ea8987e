/** The official JavaScript client, which we did not write, against our server: all that it can do, on every store. */
import { Message, Role, SendMessageRequest, TaskState, type StreamResponse, type Task } from "@a2a-js/sdk";
import {
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, inputRequired, reply } from "../../src/adapters/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { eachStore } from "../stores.ts";

const words = ["Once ", "upon ", "a ", "time"];

/** Does what the text says. */
const actor = agent(
  { name: "actor", description: "Does what the text says" },
  async function* ({ text, signal, history }) {
    if (text === "reply") yield reply("a plain answer");
    else if (text === "ask") yield inputRequired("Which city?");
    else if (text === "wait") {
      yield "waiting";
      await once(signal, "abort");
    } else if (text === "stream") yield* words;
    else yield `heard ${history.map(({ parts }) => JSON.stringify(parts[0])).join(" and ")}`;
  },
  { opensWith: "either" },
);

const BINDINGS = {
  JSONRPC: new JsonRpcTransportFactory(),
  "HTTP+JSON": new RestTransportFactory(),
  GRPC: new GrpcTransportFactory(),
} as const;

describe.each(eachStore)("the client of @a2a-js/sdk, with tasks in $name", ({ openStore }) => {
  describe.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)("over %s", (binding) => {
    let server: Server;
    let client: Client;
    let closeStore: () => Promise<void>;

    beforeAll(async () => {
      const { store, remove } = await openStore();
      closeStore = remove;
      server = createServer({ actor }, { store });
      const { url } = await server.listen({ grpc: true });
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [BINDINGS[binding]],
        preferredTransports: [binding],
      });
      client = await new ClientFactory(options).createFromUrl(url);
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
      const task = asTask(await client.sendMessage(say("hello")));
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(textsOf(task)).toEqual([`heard {"text":"hello"}`]);
    });

    it("sends a message and gets a message [F-01]", async () => {
      const answer = await client.sendMessage(say("reply"));
      expect(answer).toMatchObject({
        role: Role.ROLE_AGENT,
        parts: [{ content: { value: "a plain answer" } }],
      });
    });

    it("streams a message and gets every chunk, in order, once [G-01, G-02, G-03, G-08]", async () => {
      const events = await all(client.sendMessageStream(say("stream")));
      expect(events[0]?.payload?.$case).toBe("task");
      expect(chunksOf(events).join("")).toBe(words.join(""));
      const { taskId, contextId } = asUpdate(events[1]);
      expect(taskId).toBe(taskIdOf(events[0]));
      for (const event of events.slice(1)) expect(asUpdate(event)).toMatchObject({ taskId, contextId });
      expect(lastStateOf(events)).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    it("streams a message and gets a message alone [G-01]", async () => {
      const events = await all(client.sendMessageStream(say("reply")));
      expect(events.map((event) => event.payload?.$case)).toEqual(["message"]);
    });

    it("answers a question within the task [F-06, F-15]", async () => {
      const asked = asTask(await client.sendMessage(say("ask")));
      expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      const done = asTask(await client.sendMessage(say("Paris", { taskId: asked.id })));
      expect(done).toMatchObject({ id: asked.id, contextId: asked.contextId });
      expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    it("begins a new task in the context of a finished one [F-08, F-20]", async () => {
      const { id, contextId } = asTask(await client.sendMessage(say("first")));
      const next = asTask(await client.sendMessage(say("second", { contextId })));
      expect(next.contextId).toBe(contextId);
      expect(next.id).not.toBe(id);
    });

    it("gets a task, with as much history as it asks for [F-30, F-31]", async () => {
      const { id } = asTask(await client.sendMessage(say("keep")));
      const task = await client.getTask({ tenant: "", id });
      expect(textsOf(task)).toEqual([`heard {"text":"keep"}`]);
      expect(task.history).toHaveLength(1);
      expect((await client.getTask({ tenant: "", id, historyLength: 0 })).history).toEqual([]);
    });

    it("is told that a task does not exist [F-30]", async () => {
      await expect(client.getTask({ tenant: "", id: "none" })).rejects.toMatchObject({
        name: "TaskNotFoundError",
      });
    });

    it("lists the tasks of a context, a page at a time [F-32, F-33, F-34]", async () => {
      const contextId = `context-${binding}`;
      const ids: string[] = [];
      for (const text of ["a", "b", "c"])
        ids.push(asTask(await client.sendMessage(say(text, { contextId }))).id);

      const query = { ...LIST, contextId, pageSize: 2 };
      const first = await client.listTasks(query);
      expect(first).toMatchObject({ pageSize: 2, totalSize: 3 });
      const second = await client.listTasks({ ...query, pageToken: first.nextPageToken });
      expect(second).toMatchObject({ nextPageToken: "", totalSize: 3 });
      expect([...first.tasks, ...second.tasks].map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    });

    it("subscribes to a task at work, and cancels it [F-40, F-50, E8]", async () => {
      const stream = client.sendMessageStream(say("wait"));
      const opened = await stream.next();
      const id = taskIdOf(opened.value as StreamResponse);
      const subscription = client.resubscribeTask({ tenant: "", id });
      const snapshot = (await subscription.next()).value as StreamResponse;
      expect(snapshot.payload).toMatchObject({ $case: "task", value: { id } });

      const canceled = await client.cancelTask({ tenant: "", id, metadata: undefined });
      expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
      for (const reader of [stream, subscription])
        expect(lastStateOf(await all(reader))).toBe(TaskState.TASK_STATE_CANCELED);
    });

    it("is told that a finished task can not be canceled [F-41]", async () => {
      const { id } = asTask(await client.sendMessage(say("done")));
      await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toMatchObject({
        name: "TaskNotCancelableError",
      });
    });
  });
});

const LIST = {
  tenant: "",
  contextId: "",
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: "",
  statusTimestampAfter: undefined,
};

function say(text: string, about: { taskId?: string; contextId?: string } = {}): SendMessageRequest {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...about };
  return SendMessageRequest.fromJSON({ message });
}

function asTask(answer: Message | Task): Task {
  if ("status" in answer) return answer;
  throw new Error("a message came instead of a task");
}

async function all(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

function textsOf({ artifacts }: Task): string[] {
  return artifacts.map(({ parts }) => parts.map(({ content }) => String(content?.value)).join(""));
}

function chunksOf(events: readonly StreamResponse[]): string[] {
  return events.flatMap(({ payload }) =>
    payload?.$case === "artifactUpdate"
      ? (payload.value.artifact?.parts ?? []).map(({ content }) => String(content?.value))
      : [],
  );
}

function taskIdOf(event: StreamResponse | undefined): string {
  return event?.payload?.$case === "task" ? event.payload.value.id : "";
}

function asUpdate(event: StreamResponse | undefined): { taskId: string; contextId: string } {
  const { payload } = event ?? {};
  if (payload?.$case === "statusUpdate" || payload?.$case === "artifactUpdate") return payload.value;
  throw new Error(`no update came, but ${payload?.$case}`);
}

function lastStateOf(events: readonly StreamResponse[]): TaskState | undefined {
  const payload = events.at(-1)?.payload;
  return payload?.$case === "statusUpdate" || payload?.$case === "task"
    ? payload.value.status?.state
    : undefined;
}
