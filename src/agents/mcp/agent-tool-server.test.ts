import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { type A2AClient, connect } from "../../client/index.ts";
import { A2AError, type StreamResponse } from "../../protocol/index.ts";
import { McpProgressReporter } from "./agent-tool-server.ts";
import { createMcpServer } from "./index.ts";
import { serveScriptedAgent } from "./scripted-agent.fixture.ts";

const createChunkEvent = (text: string): StreamResponse => ({
  artifactUpdate: {
    taskId: "t",
    contextId: "c",
    artifact: { artifactId: "a", parts: [{ text }] },
    append: true,
  },
});
const createWholeEvent = (text: string): StreamResponse => ({
  artifactUpdate: {
    taskId: "t",
    contextId: "c",
    artifact: { artifactId: "a", parts: [{ text }] },
    lastChunk: true,
  },
});
const createStatusEvent = (text: string): StreamResponse => ({
  statusUpdate: {
    taskId: "t",
    contextId: "c",
    status: {
      state: "TASK_STATE_WORKING",
      message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text }] },
    },
  },
});

describe("progress", () => {
  it("keeps the chunks of different artifacts apart", async () => {
    const sent: string[] = [];
    const progress = new McpProgressReporter(async (_, message) => void sent.push(message));
    const add = (artifactId: string, text: string, append: boolean): void =>
      progress.reportEvent({
        artifactUpdate: {
          taskId: "t",
          contextId: "c",
          artifact: { artifactId, parts: [{ text }] },
          append,
        },
      });
    add("a", "one", false);
    add("b", "two", false);
    add("a", " more", true);
    await progress.waitUntilAllSent();
    expect(sent).toEqual(["one", "two", " more"]);
  });

  it("is sent one notification at a time, and keeps the end of the chunks merged meanwhile", async () => {
    const sent: [number, string][] = [];
    let read!: () => void;
    const progress = new McpProgressReporter((number, message) => {
      sent.push([number, message]);
      return new Promise((resolve) => (read = resolve));
    });
    progress.reportEvent(createChunkEvent("first"));
    for (let at = 0; at < 1000; at++) progress.reportEvent(createChunkEvent(`${at} `));
    progress.reportEvent(createStatusEvent("Nearly there"));
    progress.reportEvent(createChunkEvent("last"));
    expect(sent).toEqual([[1, "first"]]);
    const flushed = progress.waitUntilAllSent().then(() => sent.push([0, "over"]));
    for (let step = 0; step < 4; step++) {
      read();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await flushed;
    expect(sent.map(([number]) => number)).toEqual([1, 2, 3, 4, 0]);
    expect(sent[1]?.[1]).toHaveLength(1000);
    expect(sent[1]?.[1]).toMatch(/ 998 999 $/);
    expect(sent.slice(2, 4).map(([, message]) => message)).toEqual(["Nearly there", "last"]);
  });

  it("does not repeat the chunks of an artifact that ends with its entire content", async () => {
    const sent: string[] = [];
    const progress = new McpProgressReporter(async (_, message) => void sent.push(message));
    for (const event of [createChunkEvent("Hel"), createWholeEvent("Hello"), createWholeEvent("Hallo")]) {
      progress.reportEvent(event);
      await progress.waitUntilAllSent();
    }
    expect(sent).toEqual(["Hel", "lo", "Hallo"]);
  });

  it("is buffered only up to a limit for a host that never reads", () => {
    let sent = 0;
    const progress = new McpProgressReporter(() => {
      sent++;
      return new Promise(() => {});
    });
    for (let at = 0; at < 10_000; at++) progress.reportEvent(createStatusEvent(`step ${at}`));
    expect(sent).toBe(1);
  });

  it("does not fail a call whose host has disconnected or did not request progress", async () => {
    const gone = new McpProgressReporter(() => Promise.reject(new Error("closed")));
    gone.reportEvent(createStatusEvent("one"));
    gone.reportEvent(createStatusEvent("two"));
    await gone.waitUntilAllSent();
    const unasked = new McpProgressReporter(undefined);
    unasked.reportEvent(createStatusEvent("one"));
    await expect(unasked.waitUntilAllSent()).resolves.toBeUndefined();
  });
});

it("sends the progress of a failed call before its result, also to a host that reads slowly", async () => {
  const hasFailed = Promise.withResolvers<void>();
  const parrot = await serveScriptedAgent();
  onTestFinished(() => parrot.close());
  const { card } = await connect(parrot.url);
  async function* failAfterSteps(): AsyncGenerator<StreamResponse, void> {
    for (const step of ["1", "2", "3", "4", "5"]) yield createStatusEvent(step);
    hasFailed.resolve();
    throw new A2AError("UNAVAILABLE", "gone");
  }
  const client = { card, stream: failAfterSteps } as unknown as A2AClient;
  const mcp = await createMcpServer({ parrot: client }, { observer: false, refreshToolsMs: 0 });
  const [stdin, stdout] = [new PassThrough(), new PassThrough({ highWaterMark: 1 })];
  const served = mcp.serveStdio({ stdin, stdout });
  const send = (message: object): void =>
    void stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "host", version: "1" };
  send({
    id: "start",
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  const [tool] = mcp.tools;
  const params = { name: tool?.name, arguments: { message: "hi" }, _meta: { progressToken: 1 } };
  send({ id: "call", method: "tools/call", params });
  await hasFailed.promise;
  const seen: (string | undefined)[] = [];
  for await (const line of createInterface({ input: stdout })) {
    const { id, method } = JSON.parse(line) as { id?: string; method?: string };
    seen.push(method ?? id);
    if (id === "call") send({ id: "end", method: "ping" });
    if (id === "end") break;
  }
  stdin.end();
  await served;
  expect(seen).toEqual(["start", ...Array<string>(5).fill("notifications/progress"), "call", "end"]);
});
