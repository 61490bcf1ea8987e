import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, type ConnectOptions } from "../../../src/client/index.ts";
import { createBreakingProxy } from "../../../src/client/breaking-proxy.fixture.ts";
import { agent } from "../../../src/agents/adapters/index.ts";
import type { Agent } from "../../../src/engine/index.ts";
import {
  createServer,
  type Server,
  type ServerAddress,
  type ServerOptions,
} from "../../../src/server/index.ts";
import { loadTrafficModel, reconstructTask, type LoadedTraffic } from "../../../src/observe/trace/index.ts";
import { readTrafficFile, type ReadTrafficLine } from "../../../src/observe/trace/recording/index.ts";

let folder: string;
const closers: (() => unknown)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "traffic-"));
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function serve(
  served: Agent,
  options: ServerOptions = {},
): Promise<{ server: Server; address: ServerAddress }> {
  const server = createServer(served, { store: "memory", observer: false, ...options });
  const address = await server.listen({ grpc: true });
  closers.push(() => server.close({ graceMs: 50 }));
  return { server, address };
}

async function load(...files: string[]): Promise<LoadedTraffic> {
  const lines: ReadTrafficLine[] = [];
  for (const file of files) for await (const line of readTrafficFile(join(folder, file))) lines.push(line);
  return loadTrafficModel(lines);
}

/** Loads the records once they contain the end of each stream. A client writes its last lines after the end of a stream. */
async function loadFinishedStreams(...files: string[]): Promise<LoadedTraffic> {
  const countUnfinished = async (): Promise<number> =>
    [...(await load(...files)).model.calls.values()].filter(({ end }) => !end).length;
  await expect.poll(countUnfinished, { timeout: 10_000 }).toBe(0);
  return await load(...files);
}

const counter = agent({ name: "counter", description: "Counts" }, async function* ({ text }) {
  for (let at = 1; at <= 5; at++) yield `${text} ${at} `;
});

describe("the record of a server and of its client", () => {
  it.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
    "shows a streamed task over %s from both sides [E22]",
    async (binding) => {
      const { server, address } = await serve(counter, { record: join(folder, "server.jsonl") });
      const client = await connect(address.url, { binding, record: { file: join(folder, "client.jsonl") } });
      const states: string[] = [];
      for await (const event of client.stream("Number"))
        if ("statusUpdate" in event) states.push(event.statusUpdate.status.state);
      await server.close();
      const { model, unreadableLines } = await loadFinishedStreams("server.jsonl", "client.jsonl");
      expect(unreadableLines).toBe(0);
      expect([...model.agents.keys()]).toEqual(["counter"]);
      expect([...model.writers.values()].map(({ line, lostLines }) => [line?.vantage, lostLines])).toEqual([
        ["server", 0],
        ["client", 0],
      ]);
      const [exchange, ...others] = model.exchanges;
      expect(others).toEqual([]);
      expect(exchange).toMatchObject({ to: "counter", operation: "SendStreamingMessage", hasFailed: false });
      expect(exchange?.calls.map(({ vantage }) => vantage)).toEqual(["client", "server"]);
      expect(exchange?.calls.map(({ end }) => end?.line.reason)).toEqual(["completed", "completed"]);
      const [task] = [...model.tasks.values()];
      expect(task?.state).toBe("TASK_STATE_COMPLETED");
      expect(task?.marks.size).toBe(0);
      const received = model.calls.get(exchange?.calls[0]?.key ?? "");
      expect(received?.frameCount).toBe(exchange?.calls[1]?.frameCount);
      expect(received?.lastLogSeq).toBe(task?.loggedNumbers.highest);
      expect(JSON.stringify(task && reconstructTask(task)?.artifacts)).toContain("Number 1 Number 2");
    },
  );

  it("marks the cut of a stream and its resumption after the last event", async () => {
    const { server, address } = await serve(counter, { record: join(folder, "server.jsonl") });
    const proxy = await createBreakingProxy(address.url);
    closers.push(() => proxy.close());
    const options: ConnectOptions = { trustedOrigins: "any", record: join(folder, "client.jsonl") };
    const { card } = await connect(address.url, options);
    const throughProxy = JSON.parse(JSON.stringify(card).replaceAll(address.url, proxy.url)) as unknown;
    const client = await connect(address.url, {
      ...options,
      reconnect: { initialDelayMs: 1 },
      fetch: (url, init) =>
        typeof url === "string" && url.includes("agent-card")
          ? Promise.resolve(Response.json(throughProxy))
          : fetch(url, init),
    });
    proxy.breakAfter([900]);
    for await (const event of client.stream("Number")) void event;
    await server.close();
    // The client writes the last lines of its record after the end of the stream.
    const loadTask = async () => {
      const { model } = await load("server.jsonl", "client.jsonl");
      return { model, task: [...model.tasks.values()][0] };
    };
    const readClientStates = async (): Promise<unknown> =>
      (await loadTask()).task?.readers
        .filter(({ vantage }) => vantage === "client")
        .map(({ state }) => state);
    await expect.poll(readClientStates, { timeout: 10_000 }).toEqual(["cut", "completed"]);
    const { model, task } = await loadTask();
    const marks = task?.timeline.flatMap(({ line, marks: ofLine }) =>
      ofLine.map(({ kind }) => `${model.writers.get(line.writer)?.line?.vantage} ${kind}`),
    );
    expect(marks?.filter((mark) => mark.startsWith("client"))).toEqual(["client cut", "client resume"]);
    expect(marks?.some((mark) => / (gap|duplicate|lost-lines)$/.test(mark))).toBe(false);
  });

  it("contains failures, and no credentials [SEC-68]", async () => {
    const token = "a-token-of-a-caller-1234567890";
    const { server, address } = await serve(counter, { record: join(folder, "server.jsonl") });
    const client = await connect(address.url, {
      record: join(folder, "client.jsonl"),
      headers: { authorization: `Bearer ${token}`, "x-api-key": token },
    });
    await expect(client.tasks.get("unknown")).rejects.toThrow();
    await expect(
      client.tasks.pushConfigs.create("unknown", {
        url: "https://example.com",
        token,
        authentication: { scheme: "Bearer", credentials: token },
      }),
    ).rejects.toThrow();
    await server.close();
    const { model } = await load("server.jsonl", "client.jsonl");
    expect(
      model.exchanges.map(({ operation, hasFailed, calls }) => [operation, hasFailed, calls.length]),
    ).toEqual([
      ["GetTask", true, 2],
      ["CreateTaskPushNotificationConfig", true, 2],
    ]);
    for (const file of ["server.jsonl", "client.jsonl"])
      expect(readFileSync(join(folder, file), "utf8")).not.toContain(token);
  });

  it("contains no content without bodies, and the states of the task", async () => {
    const { server, address } = await serve(counter, {
      record: { file: join(folder, "server.jsonl"), bodies: false },
    });
    const client = await connect(address.url);
    await client.send("Confidential");
    await server.close();
    expect(readFileSync(join(folder, "server.jsonl"), "utf8")).not.toContain("Confidential");
    const { model } = await load("server.jsonl");
    expect([...model.tasks.values()].map(({ state }) => state)).toEqual(["TASK_STATE_COMPLETED"]);
  });

  it("cannot make a task fail: the record is lost if its file cannot be written", async () => {
    const errors: unknown[] = [];
    const { server, address } = await serve(counter, {
      record: join(folder, "missing", "server.jsonl"),
      observer: { onError: ({ where }) => errors.push(where) },
    });
    const { text } = await (await connect(address.url)).ask("Number");
    expect(text).toContain("Number 5");
    await server.close();
    expect(errors).toEqual(["traffic record"]);
  });
});
