import { describe, expect, it } from "vitest";
import { collect, connect, type Reconnect, type Remote } from "../index.ts";
import { type Answer, cardFor, listen, type Seen, sendEvents, sendJson } from "../listen.contract.ts";
import { all, taskOf } from "../remote.contract.ts";

// What servers of 0.3 send, as its JSON-RPC types; 0.3 knows no event ids, and leaves much of resubscribing open.

const ids = { taskId: "t", contextId: "c" };
const chunk = (text: string): object => ({
  kind: "artifact-update",
  ...ids,
  artifact: { artifactId: "a", parts: [{ kind: "text", text }] },
  append: true,
});
const status = (state: string, final = false): object => ({
  kind: "status-update",
  ...ids,
  status: { state },
  final,
});
const task = (state: string, text?: string): object => ({
  kind: "task",
  id: "t",
  contextId: "c",
  status: { state },
  ...(text === undefined ? {} : { artifacts: [{ artifactId: "a", parts: [{ kind: "text", text }] }] }),
});

const stream =
  (events: readonly object[], ending: "end" | "cut" | "open", firstId = 0): Answer =>
  (response, { body }) =>
    sendEvents(
      response,
      events.map((result, index) => [firstId && firstId + index, { jsonrpc: "2.0", id: body.id, result }]),
      ending,
    );
const answer =
  (result: unknown): Answer =>
  (response, { body }) =>
    sendJson(response, { jsonrpc: "2.0", id: body.id, result });
const refuse =
  (code: number): Answer =>
  (response, { body }) =>
    sendJson(response, { jsonrpc: "2.0", id: body.id, error: { code, message: "no" } });

/** A server of 0.3 that answers each method with its answers in turn. */
async function play(
  answers: Record<string, readonly Answer[]>,
  reconnect: Reconnect = {},
): Promise<{ remote: Remote; asked: () => (string | undefined)[]; seen: Seen[] }> {
  const left = new Map(Object.entries(answers).map(([method, all]) => [method, [...all]]));
  let url = "";
  const server = await listen((response, request) => {
    if (request.url.includes("/.well-known/")) {
      const old = { supportedInterfaces: undefined, url: `${url}/rpc`, protocolVersion: "0.3.0" };
      return sendJson(response, cardFor(url, old));
    }
    const next = left.get(request.body.method ?? "")?.shift();
    if (!next) throw new Error(`nobody expected ${request.body.method}`);
    next(response, request);
  });
  ({ url } = server);
  const remote = await connect(url, {
    extensions: ["urn:x:polite"],
    reconnect: { sleep: () => Promise.resolve(), ...reconnect },
  });
  const seen = (): Seen[] => server.seen.slice(1);
  return { remote, asked: () => seen().map(({ body }) => body.method), seen: server.seen };
}

const text = async (events: Awaited<ReturnType<typeof all>>): Promise<string> => {
  async function* replay(): AsyncGenerator<(typeof events)[number]> {
    yield* events;
  }
  const { artifacts = [] } = taskOf(await collect(replay()));
  return artifacts.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : ""))).join("");
};

describe("with an agent of 0.3", () => {
  it("every request names the version and the extensions as 0.3 does [B-01, J-01]", async () => {
    const { remote, seen } = await play({ "tasks/get": [answer(task("completed"))] });
    await remote.task.get("t");
    expect(seen[1]?.headers).toMatchObject({ "a2a-version": "0.3", "x-a2a-extensions": "urn:x:polite" });
    expect(seen[1]?.headers).not.toHaveProperty("a2a-extensions");
  });

  it("a stream is over with what the agent calls final, though the connection stays open", async () => {
    const { remote, asked } = await play({
      "message/stream": [stream([task("submitted"), status("working", true)], "open")],
    });
    expect(await all(remote.stream("go"))).toHaveLength(2);
    expect(asked()).toEqual(["message/stream"]);
  });

  it("a stream is left after its server, and what comes behind its end is no part of it", async () => {
    const ended = Promise.withResolvers<boolean>();
    const slow: Answer = (response, request) => {
      stream([task("submitted"), status("completed", true), chunk("more")], "open")(response, request);
      response.on("close", () => ended.resolve(response.writableFinished));
      setTimeout(() => response.end(), 50);
    };
    // The time of the client that waits is real here.
    const { remote } = await play(
      { "message/stream": [slow] },
      { sleep: (ms) => new Promise((done) => setTimeout(done, ms)) },
    );
    expect(await all(remote.stream("go"))).toHaveLength(2);
    expect(await ended.promise).toBe(true);
  });

  it("a stream that is cut goes on with the whole task, where the server begins with it [E3]", async () => {
    const { remote, asked } = await play({
      "message/stream": [stream([task("submitted"), chunk("one ")], "cut")],
      "tasks/resubscribe": [
        stream([task("working", "one two "), chunk("three"), status("completed", true)], "end"),
      ],
      "tasks/get": [answer(task("working", "one "))],
    });
    expect(await text(await all(remote.stream("go")))).toBe("one two three");
    expect(asked()).toEqual(["message/stream", "tasks/get", "tasks/resubscribe"]);
  });

  it("a stream that is cut goes on with the whole task, where the server begins in the middle [E3]", async () => {
    const { remote, asked } = await play({
      "message/stream": [stream([task("submitted"), chunk("one ")], "cut")],
      "tasks/resubscribe": [stream([chunk("three"), status("completed", true)], "open")],
      // "two" came between the two; the task at the end has it.
      "tasks/get": [answer(task("working", "one ")), answer(task("completed", "one two three"))],
    });
    const events = await all(remote.stream("go"));
    expect(events.map((event) => Object.keys(event)[0])).toEqual([
      "task",
      "artifactUpdate",
      "task",
      "artifactUpdate",
      "task",
    ]);
    expect(await text(events)).toBe("one two three");
    expect(asked()).toEqual(["message/stream", "tasks/get", "tasks/resubscribe", "tasks/get"]);
  });

  it("a stream of a server that counts its events goes on where it was [E4]", async () => {
    const { remote, asked, seen } = await play({
      "message/stream": [stream([task("submitted"), chunk("one ")], "cut", 1)],
      "tasks/resubscribe": [stream([chunk("two"), status("completed", true)], "end", 3)],
    });
    expect(await text(await all(remote.stream("go")))).toBe("one two");
    expect(asked()).toEqual(["message/stream", "tasks/resubscribe"]);
    expect(seen.at(-1)?.headers["last-event-id"]).toBe("2");
  });

  it.each([-32602, -32002, -32603])(
    "a task that ended meanwhile is its last event, however the server says so (%i) [F-51]",
    async (code) => {
      const { remote } = await play({
        "message/stream": [stream([task("submitted"), chunk("one ")], "cut")],
        "tasks/resubscribe": [refuse(code)],
        "tasks/get": [answer(task("working")), answer(task("completed", "one two"))],
      });
      expect(await text(await all(remote.stream("go")))).toBe("one two");
    },
  );

  it("a subscription shows the task at once, where the server is silent until something happens [F-50]", async () => {
    const { remote } = await play({
      "tasks/get": [answer(task("working"))],
      "tasks/resubscribe": [stream([], "open")],
    });
    const subscription = remote.task.subscribe("t")[Symbol.asyncIterator]();
    expect(await subscription.next()).toMatchObject({
      value: { task: { status: { state: "TASK_STATE_WORKING" } } },
    });
    await subscription.return?.();
  });

  it("a server that forgets its ids is asked for the task [E3]", async () => {
    const { remote, asked } = await play({
      "message/stream": [stream([task("submitted"), chunk("one ")], "cut", 1)],
      "tasks/resubscribe": [stream([chunk("three"), status("completed", true)], "end", 1)],
      "tasks/get": [answer(task("working", "one two ")), answer(task("completed", "one two three"))],
    });
    expect(await text(await all(remote.stream("go")))).toBe("one two three");
    expect(asked()).toEqual(["message/stream", "tasks/resubscribe", "tasks/get", "tasks/get"]);
  });

  it("a subscription that gives nothing is not asked for ever", async () => {
    const { remote, asked } = await play(
      {
        "tasks/resubscribe": [stream([], "end"), stream([], "end")],
        "tasks/get": Array.from({ length: 4 }, () => answer(task("working"))),
      },
      { tries: 1 },
    );
    await expect(all(remote.task.subscribe("t"))).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    const round = ["tasks/get", "tasks/resubscribe", "tasks/get"];
    expect(asked()).toEqual([...round, ...round]);
  });

  it("a follow-up need not begin with the task", async () => {
    const { remote } = await play({
      "message/stream": [stream([status("working"), chunk("done"), status("completed", true)], "end")],
    });
    const done = taskOf(await collect(remote.stream("blue", { taskId: "t" })));
    expect(done).toMatchObject({
      id: "t",
      contextId: "c",
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "done" }] }],
    });
  });
});
