/**
 * Tests the official JavaScript client of A2A 0.3, which does not support 1.0, with all its operations
 * against our server.
 */
import type { Part, Task, TaskStatusUpdateEvent } from "a2a-js-sdk-0.3";
import {
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from "a2a-js-sdk-0.3/client";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, artifact, data, file, inputRequired, reply } from "../../src/agents/adapters/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { STORE_FACTORIES } from "../support/store-factories.ts";
import { createTextRequest, listArtifactTexts, requireTask } from "./sdk-0.3-client.ts";
import { collectEvents } from "./sdk-client.ts";

const storyWords = ["Once ", "upon ", "a ", "time"];

/** An agent that follows the instruction in the text. */
const textDrivenAgent = agent(
  {
    name: "actor",
    description: "Does what the text says",
    securitySchemes: {
      token: { httpAuthSecurityScheme: { scheme: "Bearer" } },
      code: {
        oauth2SecurityScheme: {
          flows: { clientCredentials: { tokenUrl: "https://auth.example/token", scopes: { read: "Reads" } } },
        },
      },
    },
    securityRequirements: [{ schemes: { token: { list: [] } } }, { schemes: { code: { list: ["read"] } } }],
  },
  async function* ({ text, signal, message }) {
    if (text === "reply") yield reply("a plain answer");
    else if (text === "ask") yield inputRequired("Which city?");
    else if (text === "wait") {
      yield "waiting";
      await once(signal, "abort");
    } else if (text === "stream") yield* storyWords;
    else if (text === "parts") {
      yield artifact({ id: "all" }, { text: "a text" });
      yield artifact(
        { id: "file" },
        file(new TextEncoder().encode("hi"), { filename: "a.txt", mediaType: "text/plain" }),
      );
      yield artifact({ id: "link" }, file(new URL("https://example.com/a.png"), { mediaType: "image/png" }));
      yield artifact({ id: "data" }, data({ a: [1, null] }));
    } else yield `heard ${JSON.stringify(message.parts)}`;
  },
  { respondsWith: "either" },
);

const BINDINGS = {
  JSONRPC: new JsonRpcTransportFactory(),
  "HTTP+JSON": new RestTransportFactory(),
} as const;

type Update = Exclude<Awaited<ReturnType<ReturnType<Client["sendMessageStream"]>["next"]>>["value"], void>;

describe.each(STORE_FACTORIES)("the 0.3 client of @a2a-js/sdk, with tasks in $name", ({ openStore }) => {
  describe.each(["JSONRPC", "HTTP+JSON"] as const)("over %s", (binding) => {
    let server: Server;
    let client: Client;
    let closeStore: () => Promise<void>;

    beforeAll(async () => {
      const { store, remove } = await openStore();
      closeStore = remove;
      server = createServer({ actor: textDrivenAgent }, { store, push: { allowPrivate: true } });
      const { url } = await server.listen();
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [BINDINGS[binding]],
        preferredTransports: [binding],
      });
      // This client sends no version, so it receives the hybrid card.
      client = await new ClientFactory(options).createFromUrl(url);
    });
    afterAll(async () => {
      await server.close();
      await closeStore();
    });

    it("reads the card [V-19, V-20, V-22, B-10]", async () => {
      expect(await client.getAgentCard()).toMatchObject({
        protocolVersion: "0.3.0",
        name: "actor",
        preferredTransport: "JSONRPC",
        capabilities: { streaming: true },
        security: [{ token: [] }, { code: ["read"] }],
        securitySchemes: {
          token: { type: "http", scheme: "Bearer" },
          code: { type: "oauth2", flows: { clientCredentials: { scopes: { read: "Reads" } } } },
        },
      });
    });

    it("sends a message and gets the completed task [V-01, V-02, V-09, V-13, V-14, V-15]", async () => {
      const task = requireTask(await client.sendMessage(createTextRequest("hello")));
      expect(task).toMatchObject({ kind: "task", status: { state: "completed" } });
      expect(listArtifactTexts(task)).toEqual([`heard [{"text":"hello"}]`]);
      expect(task.history).toMatchObject([{ kind: "message", role: "user", parts: [{ text: "hello" }] }]);
    });

    it("sends a message and gets a message [V-02]", async () => {
      expect(await client.sendMessage(createTextRequest("reply"))).toMatchObject({
        kind: "message",
        role: "agent",
        parts: [{ kind: "text", text: "a plain answer" }],
      });
    });

    it("sends files and data, and gets them [V-07, V-08]", async () => {
      const sent: Part[] = [
        { kind: "file", file: { bytes: "aGk=", mimeType: "text/plain" } },
        { kind: "file", file: { uri: "https://example.com/x", mimeType: "text/plain" } },
      ];
      const answer = requireTask(await client.sendMessage(createTextRequest("", { parts: sent })));
      expect(JSON.parse((listArtifactTexts(answer)[0] ?? "").slice("heard ".length))).toEqual([
        { raw: "aGk=", mediaType: "text/plain" },
        { url: "https://example.com/x", mediaType: "text/plain" },
      ]);
      const { artifacts } = requireTask(await client.sendMessage(createTextRequest("parts")));
      // The proto has no member for a file's name.
      const name = binding === "JSONRPC" ? { name: "a.txt" } : {};
      expect(artifacts?.map(({ parts }) => parts[0])).toMatchObject([
        { kind: "text", text: "a text" },
        { kind: "file", file: { bytes: "aGk=", mimeType: "text/plain", ...name } },
        { kind: "file", file: { uri: "https://example.com/a.png", mimeType: "image/png" } },
        { kind: "data", data: { a: [1, null] } },
      ]);
    });

    it("streams a message and gets every chunk, in order, once, then the end [V-03, V-04, V-18]", async () => {
      const events = await collectEvents(client.sendMessageStream(createTextRequest("stream")));
      expect(events[0]).toMatchObject({ kind: "task" });
      expect(listChunkTexts(events).join("")).toBe(storyWords.join(""));
      const updates = events.filter(isStatusUpdate);
      expect(updates.map(({ final }) => final)).toEqual(updates.map((_, at) => at === updates.length - 1));
      expect(events.at(-1)).toMatchObject({
        kind: "status-update",
        status: { state: "completed" },
        final: true,
      });
    });

    it("streams a message and gets a message alone [V-03]", async () => {
      expect(
        (await collectEvents(client.sendMessageStream(createTextRequest("reply")))).map(({ kind }) => kind),
      ).toEqual(["message"]);
    });

    it("receives a question, which ends the stream, and answers within the task [V-04]", async () => {
      const events = await collectEvents(client.sendMessageStream(createTextRequest("ask")));
      const question = events.at(-1);
      expect(question).toMatchObject({
        kind: "status-update",
        status: { state: "input-required" },
        final: true,
      });
      const { taskId, contextId } = question as TaskStatusUpdateEvent;
      const answer = await collectEvents(
        client.sendMessageStream(createTextRequest("Paris", { taskId, contextId })),
      );
      expect(answer.at(-1)).toMatchObject({ taskId, contextId, status: { state: "completed" }, final: true });
    });

    it("gets a task, with as much history as it asks for [V-01, V-13]", async () => {
      const { id } = requireTask(await client.sendMessage(createTextRequest("keep")));
      expect((await client.getTask({ id })).history).toHaveLength(1);
      expect((await client.getTask({ id, historyLength: 0 })).history ?? []).toEqual([]);
    });

    it("does not wait if not requested, and polls the task until it is done [V-09]", async () => {
      const started = requireTask(
        await client.sendMessage({ ...createTextRequest("wait"), configuration: { blocking: false } }),
      );
      expect(["submitted", "working"]).toContain(started.status.state);
      expect(await client.cancelTask({ id: started.id })).toMatchObject({ status: { state: "canceled" } });
      expect(await client.getTask({ id: started.id })).toMatchObject({ status: { state: "canceled" } });
    });

    it("resubscribes to a running task, and receives its end [V-04, V-12]", async () => {
      const stream = client.sendMessageStream(createTextRequest("wait"));
      const { id } = (await stream.next()).value as Task;
      const subscription = client.resubscribeTask({ id });
      expect((await subscription.next()).value).toMatchObject({ kind: "task", id });
      await client.cancelTask({ id });
      for (const reader of [stream, subscription])
        expect((await collectEvents(reader)).at(-1)).toMatchObject({
          status: { state: "canceled" },
          final: true,
        });
    });

    it("resubscribes to an idle task, and receives the task [V-12]", async () => {
      for (const text of ["done", "ask"]) {
        const { id } = requireTask(await client.sendMessage(createTextRequest(text)));
        expect(await collectEvents(client.resubscribeTask({ id }))).toMatchObject([{ kind: "task", id }]);
      }
    });

    it("sets, gets, lists and deletes push configurations [V-10, V-13, V-23]", async () => {
      const { id } = requireTask(await client.sendMessage(createTextRequest("ask")));
      const config = {
        id: "one",
        url: "http://127.0.0.1:9/hook",
        token: "t",
        authentication: { schemes: ["Bearer"], credentials: "c" },
      };
      const told = { taskId: id, pushNotificationConfig: config };
      expect(await client.setTaskPushNotificationConfig(told)).toEqual(told);
      const name = { id: id, pushNotificationConfigId: "one" };
      expect(await client.getTaskPushNotificationConfig(name)).toEqual(told);
      expect(await client.listTaskPushNotificationConfig({ id: id })).toEqual([told]);
      await client.deleteTaskPushNotificationConfig(name);
      expect(await client.listTaskPushNotificationConfig({ id: id })).toEqual([]);
    });

    it("receives errors in the format of 0.3 [V-11, V-16]", async () => {
      await expect(client.getTask({ id: "none" })).rejects.toMatchObject({ name: "TaskNotFoundError" });
      const { id } = requireTask(await client.sendMessage(createTextRequest("done")));
      await expect(client.cancelTask({ id })).rejects.toMatchObject({ name: "TaskNotCancelableError" });
      await expect(client.transport.getExtendedAgentCard()).rejects.toMatchObject({
        name: "AuthenticatedExtendedCardNotConfiguredError",
      });
      await expect(client.sendMessage(createTextRequest("more", { taskId: id }))).rejects.toThrow();
    });
  });
});

function isStatusUpdate(event: Update): event is TaskStatusUpdateEvent {
  return event.kind === "status-update";
}

function listChunkTexts(events: readonly Update[]): string[] {
  return events.flatMap((event) =>
    event.kind === "artifact-update"
      ? event.artifact.parts.map((part) => (part.kind === "text" ? part.text : ""))
      : [],
  );
}
