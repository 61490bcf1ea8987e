import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { A2AError, type StreamResponse, type TaskState } from "../../protocol/index.ts";
import { collect, connect, type Reconnect, type Remote } from "../index.ts";
import { type Answer, cardFor, listen, type Seen, sendEvents, sendJson } from "../listen.contract.ts";
import { all } from "../remote.contract.ts";

const ids = { taskId: "t", contextId: "c" };
const task = (state: TaskState): StreamResponse => ({ task: { id: "t", contextId: "c", status: { state } } });
const status = (state: TaskState): StreamResponse => ({ statusUpdate: { ...ids, status: { state } } });
const chunk = (text: string): StreamResponse => ({
  artifactUpdate: { ...ids, artifact: { artifactId: "a", parts: [{ text }] }, append: true },
});

/** The log of a task: its events are numbered from 1. */
const LOG: readonly StreamResponse[] = [
  task("TASK_STATE_SUBMITTED"),
  status("TASK_STATE_WORKING"),
  chunk("one "),
  chunk("two "),
  chunk("three"),
  status("TASK_STATE_COMPLETED"),
];
const numbered = (from: number, to: number): [number, StreamResponse][] =>
  LOG.slice(from, to).map((event, index) => [from + index + 1, event]);

interface Scene {
  readonly remote: Remote;
  /** What was asked, without requests for the card. */
  readonly asked: () => {
    method: string | undefined;
    after: string | undefined;
    params: Seen["body"]["params"];
  }[];
  /** How long the client waited between tries. */
  readonly waits: number[];
}

/** A JSON-RPC server that answers the nth request with the nth answer, and the last for ever; no wait takes any time. */
async function play(answers: readonly Answer[], reconnect: Reconnect = {}): Promise<Scene> {
  let url = "";
  let turn = 0;
  const { seen, url: at } = await listen((response, request) => {
    if (request.url.includes("/.well-known/")) sendJson(response, cardFor(url));
    else {
      answers[Math.min(turn, answers.length - 1)]?.(response, request);
      turn += 1;
    }
  });
  url = at;
  const waits: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  const remote = await connect(url, { reconnect: { random: () => 0.5, sleep, ...reconnect } });
  const asked = (): ReturnType<Scene["asked"]> =>
    seen.slice(1).map(({ body, headers }) => {
      return {
        method: body.method,
        after: headers["last-event-id"] as string | undefined,
        params: body.params,
      };
    });
  return { remote, asked, waits };
}

const stream =
  (events: readonly (readonly [number, StreamResponse])[], ending: "end" | "cut" | "open"): Answer =>
  (response, { body }) =>
    sendEvents(
      response,
      events.map(([id, result]) => [id, { jsonrpc: "2.0", id: body.id, result }]),
      ending,
    );
const refuse =
  (code: number, message: string, retryDelay?: string): Answer =>
  (response) =>
    sendJson(response, {
      jsonrpc: "2.0",
      id: 1,
      error: {
        code,
        message,
        data: retryDelay ? [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }] : [],
      },
    });
const hangUp: Answer = (response) => response.socket?.resetAndDestroy();

describe("a stream that is cut", () => {
  it.each(["cut", "end"] as const)(
    "goes on after the last event: nothing lost, nothing twice (%s) [E3, E4]",
    async (how) => {
      const { remote, asked } = await play([
        stream(numbered(0, 3), how),
        stream(numbered(3, 4), how),
        stream([], how),
        stream(numbered(4, 6), "end"),
      ]);
      expect(await all(remote.stream("go"))).toEqual(LOG);
      expect(asked().map(({ method, after }) => [method, after])).toEqual([
        ["SendStreamingMessage", undefined],
        ["SubscribeToTask", "3"],
        ["SubscribeToTask", "4"],
        ["SubscribeToTask", "4"],
      ]);
      expect(asked().at(-1)?.params).toEqual({ id: "t" });
    },
  );

  it("passes on the whole task of a server that knows no ids [F-50]", async () => {
    const whole: StreamResponse = {
      task: {
        id: "t",
        contextId: "c",
        status: { state: "TASK_STATE_WORKING" },
        artifacts: [{ artifactId: "a", parts: [{ text: "one two " }] }],
      },
    };
    const { remote, asked } = await play([
      stream(
        [
          [0, task("TASK_STATE_SUBMITTED")],
          [0, chunk("one ")],
        ],
        "cut",
      ),
      stream(
        [
          [0, whole],
          [0, chunk("three")],
          [0, status("TASK_STATE_COMPLETED")],
        ],
        "end",
      ),
    ]);
    expect(await collect(remote.stream("go"))).toMatchObject({
      task: {
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [{ parts: [{ text: "one two three" }] }],
      },
    });
    expect(asked().map(({ after }) => after)).toEqual([undefined, undefined]);
  });

  it("ends with the whole task when that has ended meanwhile [F-51]", async () => {
    const { task: done } = task("TASK_STATE_COMPLETED") as { task: object };
    const { remote, asked } = await play([
      stream(numbered(0, 2), "cut"),
      refuse(-32004, "the task is over"),
      (response) => sendJson(response, { jsonrpc: "2.0", id: 1, result: done }),
    ]);
    expect((await all(remote.stream("go"))).at(-1)).toEqual({ task: done });
    expect(asked().map(({ method }) => method)).toEqual([
      "SendStreamingMessage",
      "SubscribeToTask",
      "GetTask",
    ]);
  });

  it("before its first event sends the same message again", async () => {
    const { remote, asked } = await play([hangUp, stream([], "cut"), stream(numbered(0, 6), "end")]);
    expect(await all(remote.stream("go"))).toEqual(LOG);
    const [first, ...more] = asked().map(({ method, params }) => ({ method, params }));
    expect(more).toEqual([first, first]);
  });

  it("is over when nothing was left to come [G-02, G-04]", async () => {
    const endings: StreamResponse[] = [
      status("TASK_STATE_FAILED"),
      status("TASK_STATE_INPUT_REQUIRED"),
      task("TASK_STATE_REJECTED"),
    ];
    for (const last of endings) {
      const { remote, waits } = await play([
        stream(
          [
            [1, task("TASK_STATE_SUBMITTED")],
            [2, last],
          ],
          "cut",
        ),
      ]);
      expect(await all(remote.stream("go"))).toHaveLength(2);
      expect(waits).toEqual([]);
    }
    const message: StreamResponse = {
      message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hi" }] },
    };
    const { remote } = await play([stream([[0, message]], "cut")]);
    expect(await all(remote.stream("go"))).toEqual([message]);
  });

  it("goes on behind a question when it is a subscription [F-52]", async () => {
    const { remote, asked } = await play([
      stream([[4, task("TASK_STATE_INPUT_REQUIRED")]], "cut"),
      stream(
        [
          [5, status("TASK_STATE_WORKING")],
          [6, status("TASK_STATE_COMPLETED")],
        ],
        "end",
      ),
    ]);
    expect(await all(remote.task.subscribe("t", { after: 3 }))).toHaveLength(3);
    expect(asked().map(({ after }) => after)).toEqual(["3", "4"]);
  });

  it("does not take the question that it answers for the next one [F-15]", async () => {
    const asking = { state: "TASK_STATE_INPUT_REQUIRED", timestamp: "2026-01-01T00:00:00.000Z" } as const;
    const before: StreamResponse = { task: { id: "t", contextId: "c", status: asking } };
    const again = status("TASK_STATE_INPUT_REQUIRED");
    for (const how of ["cut", "end"] as const) {
      for (const last of [status("TASK_STATE_COMPLETED"), again]) {
        // The subscription stays open behind the new question, which ends the turn all the same.
        const { remote } = await play([
          stream([[4, before]], how),
          stream([[5, chunk("thanks")]], how),
          stream([[6, last]], "open"),
        ]);
        expect(await all(remote.stream("blue", { taskId: "t" }))).toEqual([before, chunk("thanks"), last]);
      }
    }
    // A server without ids that closes in good order has to be believed.
    const { remote } = await play([stream([[0, before]], "end")]);
    expect(await all(remote.stream("blue", { taskId: "t" }))).toEqual([before]);
  });

  it("before its first event may have ended with the next question meanwhile [F-15]", async () => {
    const next: StreamResponse = {
      task: {
        id: "t",
        contextId: "c",
        status: {
          state: "TASK_STATE_INPUT_REQUIRED",
          message: { messageId: "q2", role: "ROLE_AGENT", parts: [{ text: "and the size?" }] },
        },
      },
    };
    const { remote, asked } = await play([hangUp, stream([[9, next]], "end")]);
    expect(await all(remote.stream("blue", { taskId: "t" }))).toEqual([next]);
    expect(asked()).toHaveLength(2);
  });

  it("is not resumed when the agent says no", async () => {
    const { remote, waits } = await play([stream(numbered(0, 2), "cut"), refuse(-32001, "gone")]);
    await expect(all(remote.stream("go"))).rejects.toMatchObject({
      reason: "TASK_NOT_FOUND",
      message: "gone",
    });
    expect(waits).toHaveLength(1);
  });
});

describe("the tries", () => {
  it("wait longer each time, by chance, and begin anew after progress", async () => {
    const { remote, waits } = await play(
      [hangUp, hangUp, hangUp, hangUp, stream(numbered(0, 1), "cut"), hangUp, stream(numbered(1, 6), "end")],
      { firstDelayMs: 100, maxDelayMs: 500 },
    );
    expect(await all(remote.stream("go"))).toEqual(LOG);
    expect(waits).toEqual([50, 100, 200, 250, 50, 100]);
  });

  it("wait as long as the server asks for [E14]", async () => {
    const { remote, waits } = await play(
      [refuse(-32000, "busy", "3s"), stream(numbered(0, 6), "end")].map((answer, index): Answer =>
        index === 0 ? (response) => response.writeHead(429, { "retry-after": "3" }).end() : answer,
      ),
    );
    expect(await all(remote.stream("go"))).toEqual(LOG);
    expect(waits).toEqual([3_000]);
  });

  it("come to an end, and the error says where to go on", async () => {
    const { remote, waits } = await play([stream(numbered(0, 3), "cut"), hangUp], { tries: 3 });
    const events: StreamResponse[] = [];
    const reading = (async () => {
      for await (const event of remote.stream("go")) events.push(event);
    })();
    await expect(reading).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      metadata: { taskId: "t", lastEventId: "3" },
      message: expect.stringContaining(
        "The stream of task t was cut, and 3 tries to resume it failed",
      ) as string,
    });
    expect(events).toEqual(LOG.slice(0, 3));
    expect(waits).toHaveLength(3);
  });

  it("come to an end with a server that cuts after every snapshot", async () => {
    const { remote, waits } = await play([stream([[0, task("TASK_STATE_WORKING")]], "cut")], { tries: 4 });
    await expect(all(remote.stream("go"))).rejects.toBeInstanceOf(A2AError);
    expect(waits).toHaveLength(4);
  });

  it("are none when none are wished for", async () => {
    const { remote, waits } = await play([hangUp], { tries: 0 });
    await expect(all(remote.stream("go"))).rejects.toMatchObject({ reason: "UNAVAILABLE", metadata: {} });
    expect(waits).toEqual([]);
  });

  it("end at once when they are aborted while waiting", async () => {
    const controller = new AbortController();
    let url = "";
    const server = await listen((response, request) => {
      if (request.url.includes("/.well-known/")) sendJson(response, cardFor(url));
      else {
        hangUp(response, request);
        // The client is about to wait for an hour.
        setImmediate(() => controller.abort(new Error("enough")));
      }
    });
    ({ url } = server);
    const remote = await connect(url, {
      reconnect: { firstDelayMs: 3_600_000, maxDelayMs: 3_600_000, random: () => 1 },
    });
    await expect(all(remote.stream("go", { signal: controller.signal }))).rejects.toThrow("enough");
  });
});

it("a reader who leaves closes the connection", async () => {
  const closed = Promise.withResolvers<void>();
  const { remote } = await play([
    (response, request) => {
      stream(numbered(0, 2), "open")(response, request);
      void once(response, "close").then(() => closed.resolve());
    },
  ]);
  for await (const event of remote.stream("go")) {
    expect(event).toEqual(LOG[0]);
    break;
  }
  await closed.promise;
});
