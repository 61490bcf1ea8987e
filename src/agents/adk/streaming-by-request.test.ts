import { LlmAgent, LogLevel, setLogLevel } from "@google/adk";
import { afterEach, describe, expect, it } from "vitest";
import { connect, type ConnectOptions } from "../../client/index.ts";
import { getText, type StreamResponse, type Task } from "../../protocol/index.ts";
import type { Server } from "../../server/index.ts";
import { ScriptedLlm } from "./models/index.ts";
import { toA2a, type ToA2aOptions } from "./to-a2a.ts";

setLogLevel(LogLevel.ERROR);

/** A scripted model that records whether each request asks for partial events. */
class RecordingLlm extends ScriptedLlm {
  readonly streamFlags: boolean[] = [];
  /** The model answers after this promise has resolved. */
  ready: Promise<void> = Promise.resolve();

  override async *generateContentAsync(
    ...[request, stream, signal]: Parameters<ScriptedLlm["generateContentAsync"]>
  ): ReturnType<ScriptedLlm["generateContentAsync"]> {
    this.streamFlags.push(stream ?? false);
    await this.ready;
    yield* super.generateContentAsync(request, stream, signal);
  }
}

const ANSWER = "one two three";
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

async function serveRecordingAgent(
  options: ToA2aOptions = {},
): Promise<{ url: string; model: RecordingLlm }> {
  const model = new RecordingLlm([ANSWER]);
  const agent = new LlmAgent({ name: "clerk", model });
  const server = toA2a(agent, { port: 0, store: "memory", grpc: true, ...options });
  servers.push(server);
  return { url: (await server.listen()).url, model };
}

function requireTask(result: object): Task {
  if (!("task" in result)) throw new Error("not a task");
  return result.task as Task;
}

const getArtifactText = ({ artifacts = [] }: Task): string =>
  artifacts.map(({ parts }) => getText(parts)).join("");

async function collectArtifactTexts(
  events: AsyncIterable<StreamResponse>,
  onFirstEvent?: () => void,
): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of events) {
    onFirstEvent?.();
    if ("artifactUpdate" in event) texts.push(getText(event.artifactUpdate.artifact.parts));
  }
  return texts;
}

describe("an ADK agent that streams by request", () => {
  const bindings: ConnectOptions[] = (["JSONRPC", "HTTP+JSON", "GRPC"] as const).flatMap((binding) => [
    { binding, version: "1.0" },
    { binding, version: "0.3" },
  ]);

  it.each(bindings)("requests partial events only for a stream, over $binding $version", async (options) => {
    const { url, model } = await serveRecordingAgent();
    const client = await connect(url, options);
    const whole = requireTask(await client.send("go"));
    expect(model.streamFlags).toEqual([false]);
    expect(getArtifactText(whole)).toBe(ANSWER);

    const texts = await collectArtifactTexts(client.stream("go"));
    expect(model.streamFlags).toEqual([false, true]);
    expect(texts.length).toBeGreaterThan(1);
  });

  it("sends a late subscriber the whole answer as one chunk", async () => {
    const { url, model } = await serveRecordingAgent();
    const { promise, resolve } = Promise.withResolvers<void>();
    model.ready = promise;
    const client = await connect(url);
    const started = await client.send("go", { configuration: { returnImmediately: true } });
    const events = client.tasks.subscribe(requireTask(started).id);
    const texts = await collectArtifactTexts(events, resolve);
    expect(texts).toEqual([ANSWER]);
    expect(model.streamFlags).toEqual([false]);
  });
});

describe("the option streaming of an ADK agent", () => {
  it.each([
    { streaming: "always", expected: [true, true] },
    { streaming: "by-request", expected: [false, true] },
    { streaming: "never", expected: [false, false] },
  ] as const)("$streaming: partial events for SendMessage and SendStreamingMessage", async (row) => {
    const { url, model } = await serveRecordingAgent({ streaming: row.streaming });
    const client = await connect(url);
    expect(getArtifactText(requireTask(await client.send("go")))).toBe(ANSWER);
    await collectArtifactTexts(client.stream("go"));
    expect(model.streamFlags).toEqual(row.expected);
  });

  it("yields to a streamingMode in runConfig", async () => {
    const { url, model } = await serveRecordingAgent({ runConfig: { streamingMode: "sse" as never } });
    await (await connect(url)).send("go");
    expect(model.streamFlags).toEqual([true]);
  });
});
