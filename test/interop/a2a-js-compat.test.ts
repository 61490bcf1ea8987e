/**
 * Tests the official JavaScript client of 1.0 in its compatibility mode for 0.3 against our server. It also
 * tests our cards with both clients.
 */
import { TaskState, type StreamResponse } from "@a2a-js/sdk";
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from "@a2a-js/sdk/client";
import type { Part } from "a2a-js-sdk-0.3";
import { ClientFactory as ClientFactory03 } from "a2a-js-sdk-0.3/client";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, inputRequired } from "../../src/agents/adapters/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { collectEvents, createTextRequest, listArtifactTexts, requireTask } from "./sdk-client.ts";

const textDrivenAgent = agent(
  { name: "actor", description: "Does what the text says" },
  async function* ({ text, signal }) {
    if (text === "ask") yield inputRequired("Which city?");
    else if (text === "wait") {
      yield "waiting";
      await once(signal, "abort");
    } else yield* ["heard ", text];
  },
);

const legacyCompat = { enabled: true };
const BINDINGS = {
  JSONRPC: new JsonRpcTransportFactory({ legacyCompat }),
  "HTTP+JSON": new RestTransportFactory({ legacyCompat }),
} as const;

function createClientFactory(binding: keyof typeof BINDINGS, fetchImpl: typeof fetch = fetch): ClientFactory {
  return new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [BINDINGS[binding]],
      preferredTransports: [binding],
      cardResolver: new DefaultAgentCardResolver({ legacyCompat, fetchImpl }),
    }),
  );
}

describe.each(["JSONRPC", "HTTP+JSON"] as const)(
  "the 1.0 client of @a2a-js/sdk, speaking 0.3 over %s",
  (binding) => {
    let server: Server;
    let client: Client;

    beforeAll(async () => {
      server = createServer(textDrivenAgent, { store: "memory", versions: ["0.3"] });
      client = await createClientFactory(binding).createFromUrl((await server.listen()).url);
    });
    afterAll(() => server.close());

    it("chooses 0.3 by the card [V-19, V-22]", () => {
      expect(client.protocolVersion).toBe("0.3");
      expect(client.transport.protocolName).toBe(binding);
    });

    it("sends, answers a question, and gets the task [V-01, V-02, V-05, V-13]", async () => {
      const question = requireTask(await client.sendMessage(createTextRequest("ask")));
      expect(question.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      const done = requireTask(
        await client.sendMessage(
          createTextRequest("Paris", { taskId: question.id, contextId: question.contextId }),
        ),
      );
      expect(done).toMatchObject({ id: question.id, status: { state: TaskState.TASK_STATE_COMPLETED } });
      expect(listArtifactTexts(await client.getTask({ tenant: "", id: question.id }))).toEqual([
        "heard Paris",
      ]);
    });

    it("streams to the end [V-03, V-04, V-18]", async () => {
      const events = await collectEvents(client.sendMessageStream(createTextRequest("x")));
      expect(events[0]?.payload?.$case).toBe("task");
      const chunks = events.flatMap(({ payload }) =>
        payload?.$case === "artifactUpdate" ? (payload.value.artifact?.parts ?? []) : [],
      );
      expect(chunks.map(({ content }) => String(content?.value)).join("")).toBe("heard x");
      expect(events.at(-1)?.payload).toMatchObject({
        value: { status: { state: TaskState.TASK_STATE_COMPLETED } },
      });
    });

    it("follows a running task, and cancels it [V-12]", async () => {
      const stream = client.sendMessageStream(createTextRequest("wait"));
      const opened = (await stream.next()).value as StreamResponse;
      const id = opened.payload?.$case === "task" ? opened.payload.value.id : "";
      const subscription = client.resubscribeTask({ tenant: "", id });
      expect((await subscription.next()).value).toMatchObject({ payload: { $case: "task", value: { id } } });
      const canceled = await client.cancelTask({ tenant: "", id, metadata: undefined });
      expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
      for (const reader of [stream, subscription]) expect(await collectEvents(reader)).not.toEqual([]);
      await expect(client.cancelTask({ tenant: "", id: "none", metadata: undefined })).rejects.toMatchObject({
        name: "TaskNotFoundError",
      });
    });
  },
);

describe("a card for readers of both versions", () => {
  it("is read by clients of both versions, which then use their own version [A-07, B-10]", async () => {
    const server = createServer(textDrivenAgent, { store: "memory" });
    const { url } = await server.listen();
    const older = await new ClientFactory03().createFromUrl(url);
    const parts: Part[] = [{ kind: "text", text: "x" }];
    const message = { kind: "message", messageId: "1", role: "user", parts } as const;
    expect(await older.sendMessage({ message })).toMatchObject({
      kind: "task",
      status: { state: "completed" },
    });

    // Simulates a proxy that removes headers: the newer client receives the same hybrid card.
    const fetchWithoutHeaders: typeof fetch = (input) => fetch(input);
    const newer = await createClientFactory("JSONRPC", fetchWithoutHeaders).createFromUrl(url);
    expect(await newer.getAgentCard()).toMatchObject({ url: `${url}/a2a/actor` });
    expect(newer.protocolVersion).toBe("1.0");
    expect(listArtifactTexts(requireTask(await newer.sendMessage(createTextRequest("y"))))).toEqual([
      "heard y",
    ]);
    await server.close();
  });
});
