import { FunctionTool } from "@google/adk";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { agent, chunk, status } from "../../agents/adapters/index.ts";
import type { Agent } from "../../engine/index.ts";
import type { AgentCard } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { MemoryStore, SqliteStore } from "../../stores/index.ts";
import { createTempFolder } from "../../../test/support/store-factories.ts";
import { FaultyFetch } from "./faults.ts";
import { type Conversation, converse, type ConverseOptions, slowTool } from "./index.ts";

const about = { name: "worker", description: "Works in steps" };

/** Works in three steps. The second one begins only after the reader has received the first one. */
function createSlowWorker(firstRead: Promise<void> = Promise.resolve()): Agent {
  return agent(about, async function* () {
    yield status("Step one");
    await firstRead;
    yield chunk({ id: "a" }, "one ");
    yield chunk({ id: "b" }, "two");
  });
}

async function start(target: Agent | string, options: ConverseOptions = {}): Promise<Conversation> {
  const chat = await converse(target, options);
  onTestFinished(() => chat.close());
  return chat;
}

describe("a cut connection", () => {
  it.each([0, 1, 2])("after %d events loses and repeats nothing", async (eventCount) => {
    const chat = await start(createSlowWorker());
    chat.cutNext(eventCount);
    const turn = await chat.send("go");
    expect(turn).toMatchObject({ state: "completed", text: "one \ntwo" });
    expect((await chat.send("go")).text).toBe("one \ntwo");
  });

  it("of an agent behind a URL is resumed with another request", async () => {
    const requests: string[] = [];
    const server = createServer(createSlowWorker(), { store: "memory", observer: false });
    onTestFinished(() => server.close());
    const { url } = await server.listen();
    const recordingFetch: typeof fetch = async (input, init) => {
      const body = typeof init?.body === "string" ? init.body : "";
      requests.push(/"method":"(\w+)"/.exec(body)?.[1] ?? "card");
      return fetch(input, init);
    };
    const chat = await start(url, { connect: { fetch: recordingFetch } });
    chat.cutNext();
    expect((await chat.send("go")).text).toBe("one \ntwo");
    expect(requests).toEqual(["card", "SendStreamingMessage", "SubscribeToTask"]);
    expect(() => chat.killNext()).toThrow("behind a URL cannot be stopped");
  });

  it("ends after a whole event, also in a stream with the line breaks of other servers", async () => {
    const frames = ["data: 1\r\n\r\n", ": heartbeat\r\n\r\n", "data: 2\r\n\r\n", "data: 3\r\n\r\n"];
    const bytes = new TextEncoder().encode(frames.join(""));
    for (const size of [1, 7, bytes.length]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.slice(at * size, (at + 1) * size),
      );
      const headers = { "content-type": "text/event-stream" };
      const faults = new FaultyFetch(() =>
        Promise.resolve(new Response(ReadableStream.from(chunks), { headers })),
      );
      for (const [eventCount, expected] of [
        [0, 0],
        [1, 1],
        [2, 3],
      ] as const) {
        faults.inject({ name: "cutNext", eventCount });
        const { body } = await faults.fetch("http://agent.example");
        let text = "";
        const read = async (): Promise<void> => {
          for await (const chunk of body ?? []) text += new TextDecoder().decode(chunk);
        };
        await expect(read()).rejects.toThrow("the connection is cut");
        expect(text).toBe(frames.slice(0, expected).join(""));
      }
      const whole = await faults.fetch("http://agent.example");
      expect(await whole.text()).toBe(frames.join(""));
    }
  });

  it("does not change the binding of an agent behind a URL that prefers gRPC", async () => {
    const server = createServer(createSlowWorker(), { store: "memory", observer: false });
    onTestFinished(() => server.close());
    const { url } = await server.listen({ grpc: true });
    const paths: string[] = [];
    const { fetch: send } = globalThis;
    const preferGrpc: typeof fetch = async (input, init) => {
      paths.push(new URL(new Request(input, init).url).pathname);
      const card = (await (await send(input, init)).json()) as AgentCard;
      const isGrpc = ({ protocolBinding }: { protocolBinding: string }): number =>
        protocolBinding === "GRPC" ? 0 : 1;
      return Response.json({
        ...card,
        supportedInterfaces: card.supportedInterfaces.toSorted((a, b) => isGrpc(a) - isGrpc(b)),
      });
    };
    const spy = vi.spyOn(globalThis, "fetch").mockImplementation(preferGrpc);
    onTestFinished(() => spy.mockRestore());
    const chat = await start(url);
    expect((await chat.send("go")).text).toBe("one \ntwo");
    expect(paths).toEqual(["/.well-known/agent-card.json"]);
    chat.cutNext();
    await expect(chat.send("go")).rejects.toThrow("ended before the fault");
  });

  it("that does not occur is an error, because the test would pass without the fault", async () => {
    const chat = await start(createSlowWorker());
    chat.cutNext(50);
    await expect(chat.send("go")).rejects.toThrow("cutNext(50): the stream of the message ended before");
    expect((await chat.send("go")).state).toBe("completed");
    expect(() => chat.cutNext(-1)).toThrow(RangeError);
  });
});

describe("a killed server", () => {
  /** Waits in its first attempt until its server is killed. */
  function createRestartingAgent(afterRestart: "restart" | "fail"): { agent: Agent; attempts: () => number } {
    let attempts = 0;
    const served = agent(
      about,
      async function* ({ signal }) {
        const attempt = ++attempts;
        yield status(`Attempt ${attempt}`);
        if (attempt === 1) await new Promise((_, reject) => signal.addEventListener("abort", reject));
        yield `done in attempt ${attempt}`;
      },
      { afterRestart },
    );
    return { agent: served, attempts: () => attempts };
  }

  it.each(["the default store", "SQLite"])("leaves the turn to its successor: %s", async (name) => {
    const { agent: served, attempts } = createRestartingAgent("restart");
    let store: SqliteStore | undefined;
    if (name === "SQLite") {
      const { folder, remove } = await createTempFolder();
      onTestFinished(remove);
      store = new SqliteStore(`${folder}/tasks.db`);
    }
    const chat = await start(served, store ? { server: { store } } : {});
    chat.killNext(2);
    const turn = await chat.send("go");
    expect(turn).toMatchObject({ state: "completed", text: "done in attempt 2" });
    expect(attempts()).toBe(2);
    expect((await chat.send("again")).text).toBe("done in attempt 3");
  });

  it("fails the turn of an agent that does not restart", async () => {
    const { agent: served, attempts } = createRestartingAgent("fail");
    const chat = await start(served);
    chat.killNext();
    expect((await chat.send("go")).state).toBe("failed");
    expect(attempts()).toBe(1);
    expect((await chat.send("again")).text).toBe("done in attempt 2");
  });

  it("needs a store that outlives it", async () => {
    const chat = await start(createSlowWorker(), { server: { store: new MemoryStore() } });
    expect(() => chat.killNext()).toThrow("The store of this server ends with the server");
  });
});

describe("a slow tool", () => {
  const weather = new FunctionTool({
    name: "weather",
    description: "The weather",
    parameters: z.object({}),
    execute: () => "sunny",
  });

  it("in a list or an object of tools returns later, and is fast again afterwards", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const call = (): Promise<unknown> => weather.runAsync({ args: {}, toolContext: {} as never });
    const slow = slowTool([weather], "weather", 60_000);
    let result: unknown;
    const called = call().then((value) => (result = value));
    await vi.advanceTimersByTimeAsync(59_000);
    expect(result).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await called).toBe("sunny");
    slow[Symbol.dispose]();
    expect(await call()).toBe("sunny");
    const tools = {
      stream: {
        execute: async function* () {
          yield 1;
        },
      },
    };
    slowTool(tools, "stream", 10);
    const first = tools.stream.execute().next();
    await vi.advanceTimersByTimeAsync(10);
    expect(await first).toEqual({ value: 1, done: false });
  });

  it("that does not exist is an error", () => {
    expect(() => slowTool([weather], "wether", 1)).toThrow('contain no tool "wether"');
    expect(() => slowTool({ weather: {} }, "weather", 1)).toThrow("contain no tool");
  });
});
