/** Tests for our server mounted under a path in a real web framework, on real sockets. */
import { SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import type { Message as Message0_3 } from "a2a-js-sdk-0.3";
import { ClientFactory as ClientFactory0_3 } from "a2a-js-sdk-0.3/client";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../../src/agents/adapters/index.ts";
import { createBreakingProxy } from "../../src/client/breaking-proxy.fixture.ts";
import { collect, connect } from "../../src/client/index.ts";
import {
  ArtifactContentTracker,
  getText,
  type SendMessageResponse,
  type StreamResponse as OurEvent,
} from "../../src/protocol/index.ts";
import { createOpenAiFacade } from "../../src/agents/openai-facade/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { STREAM_REQUESTS, createUserMessage } from "../support/http-bindings.ts";
import type { HostFrameworkMount, MountedHost } from "../support/host-frameworks.ts";
import { readSseStream } from "../support/raw-stream.ts";

const LARGE_TEXT = "x".repeat(64 * 1024);

/** Returns the text of the answer of a completed task. */
export function getCompletedAnswerText(result: SendMessageResponse): string {
  if (!("task" in result)) throw new Error("no task");
  expect(result.task.status.state).toBe("TASK_STATE_COMPLETED");
  return (result.task.artifacts ?? []).map(({ parts }) => getText(parts)).join("");
}

/** Describes a server that a web framework mounts under `/agents`. */
export function defineHostFrameworkContract(name: string, mount: HostFrameworkMount): void {
  describe(`a server inside ${name}`, () => {
    let server: Server;
    let host: MountedHost;
    let goOn = Promise.withResolvers<void>();
    const ended = { count: 0 };

    /**
     * `count` yields 30 numbers. `gate` yields one word, and the next when the test allows it. `flood` yields 4
     * MB. Any other text is echoed.
     */
    const actor = agent({ name: "actor", description: "Does what it is told" }, async function* ({ text }) {
      if (text === "count") for (let at = 1; at <= 30; at++) yield await setImmediate<string>(`${at} `);
      else if (text === "flood") for (let at = 0; at < 64; at++) yield LARGE_TEXT;
      else if (text === "gate") {
        yield "before";
        await goOn.promise;
        yield "after";
        ended.count++;
      } else yield text;
    });

    beforeAll(async () => {
      server = createServer(
        { actor },
        { store: "memory", mergeChunks: false, basePath: "/agents", mountedHandlers: [createOpenAiFacade()] },
      );
      host = await mount(server);
    });
    afterAll(async () => {
      await server.close({ graceMs: 50 });
      await host.close();
    });

    it("serves its cards and its list of agents under the path, with matching URLs", async () => {
      const get = async (path: string): Promise<unknown> => (await fetch(host.origin + path)).json();
      const url = `${host.origin}/agents/a2a/actor`;
      expect(await get("/agents/a2a")).toMatchObject({ agents: [{ id: "actor", url }] });
      for (const card of [
        "/agents/.well-known/agent-card.json",
        "/agents/a2a/actor/.well-known/agent-card.json",
      ])
        expect(await get(card)).toMatchObject({ supportedInterfaces: [{ url }, { url }, { url }, { url }] });
      expect((await fetch(`${host.origin}/elsewhere`)).status).toBe(404);
    });

    it.each([
      ["1.0", "JSONRPC"],
      ["1.0", "HTTP+JSON"],
      ["0.3", "JSONRPC"],
      ["0.3", "HTTP+JSON"],
    ] as const)("answers our client in %s over %s", async (version, binding) => {
      const remote = await connect(`${host.origin}/agents`, { version, binding, allowOlderVersion: true });
      expect(remote.agentInterface.protocolBinding).toBe(binding);
      expect(getCompletedAnswerText(await remote.send("grüezi"))).toBe("grüezi");
      const counted = await collect(remote.stream("count"));
      expect(getCompletedAnswerText(counted).trim().split(" ")).toHaveLength(30);
    });

    it.each(["1.0", "0.3"] as const)(
      "has streams that our client resumes after cuts, in %s",
      async (version) => {
        let cuts = 0;
        const proxy = await createBreakingProxy(host.origin);
        onTestFinished(() => proxy.close());
        const remote = await connect(`${proxy.url}/agents`, {
          version,
          allowOlderVersion: true,
          reconnect: { sleep: () => Promise.resolve(void cuts++) },
        });
        proxy.breakAfter([1_500, 1_500, 1_500]);
        const counted = await collect(remote.stream("count"));
        expect(getCompletedAnswerText(counted)).toBe(
          Array.from({ length: 30 }, (_, at) => `${at + 1} `).join(""),
        );
        expect(cuts).toBeGreaterThan(0);
      },
    );

    it("answers the official client of 1.0", async () => {
      const client = await new ClientFactory().createFromUrl(`${host.origin}/agents/`);
      expect(client.protocolVersion).toBe("1.0");
      const request = (text: string): SendMessageRequest =>
        SendMessageRequest.fromJSON({ message: createUserMessage(crypto.randomUUID(), text) });
      expect(Task.toJSON((await client.sendMessage(request("hello"))) as Task)).toMatchObject({
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [{ parts: [{ text: "hello" }] }],
      });
      let counted = "";
      const tracker = new ArtifactContentTracker();
      for await (const event of client.sendMessageStream(request("count"))) {
        const json = StreamResponse.toJSON(event) as OurEvent;
        if ("artifactUpdate" in json) counted += getText(tracker.addUpdate(json.artifactUpdate).parts);
      }
      expect(counted.trim().split(" ")).toHaveLength(30);
    });

    it("answers the official client of 0.3", async () => {
      const client = await new ClientFactory0_3().createFromUrl(`${host.origin}/agents/`);
      const params = (text: string): { message: Message0_3 } => ({
        message: {
          kind: "message",
          messageId: crypto.randomUUID(),
          role: "user",
          parts: [{ kind: "text", text }],
        },
      });
      expect(await client.sendMessage(params("hello"))).toMatchObject({
        status: { state: "completed" },
        artifacts: [{ parts: [{ text: "hello" }] }],
      });
      let chunks = 0;
      for await (const { kind } of client.sendMessageStream(params("count")))
        if (kind === "artifact-update") chunks++;
      expect(chunks).toBe(30);
    });

    it("sends every chunk immediately", async () => {
      goOn = Promise.withResolvers();
      const { send, event } = STREAM_REQUESTS.JSONRPC;
      const output: string[] = [];
      for await (const { data } of readSseStream(
        send(`${host.origin}/agents/a2a/actor`, createUserMessage(crypto.randomUUID(), "gate")),
      )) {
        const happened = event(data);
        if (!("artifactUpdate" in happened)) continue;
        output.push(getText(happened.artifactUpdate.artifact.parts));
        // The agent yields nothing more before this chunk was read.
        goOn.resolve();
      }
      expect(output).toEqual(["before", "beforeafter"]);
    });

    it("continues a task whose client has disconnected", async () => {
      goOn = Promise.withResolvers();
      const before = ended.count;
      const remote = await connect(`${host.origin}/agents`);
      let taskId = "";
      for await (const event of remote.stream("gate")) {
        if ("task" in event) taskId = event.task.id;
        if ("artifactUpdate" in event) break;
      }
      goOn.resolve();
      expect(getCompletedAnswerText(await collect(remote.tasks.subscribe(taskId, { after: 0 })))).toBe(
        "beforeafter",
      );
      expect(ended.count).toBe(before + 1);
    });

    it("waits for a slow reader without losing events", async () => {
      const { send, event } = STREAM_REQUESTS.JSONRPC;
      const tracker = new ArtifactContentTracker();
      let size = 0;
      let frames = 0;
      const request = send(
        `${host.origin}/agents/a2a/actor`,
        createUserMessage(crypto.randomUUID(), "flood"),
      );
      for await (const { data } of readSseStream(request)) {
        const happened = event(data);
        if ("artifactUpdate" in happened)
          size += getText(tracker.addUpdate(happened.artifactUpdate).parts).length;
        if (frames++ % 8 === 0) for (let turn = 0; turn < 50; turn++) await setImmediate();
      }
      expect(size).toBe(64 * LARGE_TEXT.length);
    });

    it("serves the OpenAI façade under the path", async () => {
      const response = await fetch(`${host.origin}/agents/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "actor", messages: [{ role: "user", content: "hello" }] }),
      });
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: "hello" } }] });
    });

    it("rejects a body that is not JSON with an A2A error", async () => {
      const response = await fetch(`${host.origin}/agents/a2a/actor`, {
        method: "POST",
        headers: { "content-type": "text/plain", "a2a-version": "1.0" },
        body: "hello",
      });
      expect(await response.text()).toMatch(/application\/json/);
    });
  });
}
