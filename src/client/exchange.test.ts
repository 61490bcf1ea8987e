import { describe, expect, it } from "vitest";
import { A2AError, type StreamResponse, type Task, type TaskState } from "../protocol/index.ts";
import { exchange, type ExchangeOptions, type Peer } from "./exchange.ts";

type Whole = { task: Task };

const task = (state: TaskState): Whole => ({
  task: { id: "T", contextId: "C", status: { state } },
});
const WORKING = task("TASK_STATE_WORKING");
const ASKING = task("TASK_STATE_INPUT_REQUIRED");
const DONE = task("TASK_STATE_COMPLETED");

interface Script {
  stream?: (signal: AbortSignal) => AsyncIterable<StreamResponse>;
  send?: () => Whole;
  get?: () => Whole;
}

/** A peer that follows a script, and remembers what was cancelled. */
class Scripted implements Peer {
  readonly cancelled: string[] = [];
  readonly card: Peer["card"];
  readonly task: Peer["task"];
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
    this.card = { capabilities: { streaming: script.stream !== undefined } };
    this.task = {
      get: async () => (script.get?.() ?? DONE).task,
      cancel: async (id) => {
        this.cancelled.push(id);
        throw new A2AError("TASK_NOT_CANCELABLE", "too late");
      },
    };
  }

  stream: Peer["stream"] = (_, options) => {
    const { signal } = options ?? {};
    if (!signal || !this.#script.stream) throw new Error("not to be asked like this");
    return this.#script.stream(signal);
  };
  send: Peer["send"] = async () => this.#script.send?.() ?? DONE;
}

const peer = (script: Script): Scripted => new Scripted(script);

async function all(from: Peer, options: Partial<ExchangeOptions> = {}): Promise<StreamResponse[]> {
  const said: StreamResponse[] = [];
  const { signal } = new AbortController();
  for await (const one of exchange(from, "hi", { signal, ...options })) said.push(one);
  return said;
}

describe("an exchange with a peer", () => {
  it("ends when the task is over or waits, though the stream stays open", async () => {
    const open = peer({
      async *stream() {
        yield WORKING;
        yield task("TASK_STATE_AUTH_REQUIRED");
        await new Promise(() => {});
      },
    });
    expect(await all(open)).toHaveLength(2);
    expect(open.cancelled).toEqual([]);
  });

  it("leaves out the task as it was, unless that is the answer", async () => {
    const goesOn = peer({
      async *stream() {
        yield ASKING;
        yield DONE;
      },
    });
    expect(await all(goesOn, { taskId: "T" })).toEqual([DONE]);
    const refuses = peer({
      async *stream() {
        yield ASKING;
      },
    });
    expect(await all(refuses, { taskId: "T" })).toEqual([ASKING]);
    expect(refuses.cancelled).toEqual([]);
  });

  it("looks at the task of a peer that does not stream until it is over", async () => {
    let looks = 0;
    const slow = peer({ send: () => WORKING, get: () => (++looks < 2 ? WORKING : DONE) });
    expect(await all(slow)).toEqual([WORKING, DONE]);
    expect(slow.cancelled).toEqual([]);
  });

  it("that is left cancels its task", async () => {
    const busy = peer({
      async *stream() {
        yield WORKING;
        yield WORKING;
      },
    });
    const { signal } = new AbortController();
    for await (const _ of exchange(busy, "hi", { signal })) break;
    expect(busy.cancelled).toEqual(["T"]);
  });

  it("that is aborted before its task is known waits for it, and cancels it [J20]", async () => {
    const abort = new AbortController();
    const late = peer({
      async *stream(signal) {
        abort.abort(new Error("enough"));
        expect(signal.aborted).toBe(false);
        yield WORKING;
      },
    });
    await expect(all(late, { signal: abort.signal })).rejects.toThrow("enough");
    expect(late.cancelled).toEqual(["T"]);
  });

  it("that is aborted while a peer without streams is at work cancels its task [J20]", async () => {
    const abort = new AbortController();
    const slow = peer({
      send: () => WORKING,
      get: () => {
        abort.abort(new Error("enough"));
        return WORKING;
      },
    });
    await expect(all(slow, { signal: abort.signal })).rejects.toThrow("enough");
    expect(slow.cancelled).toEqual(["T"]);
  });

  it("that fails cancels what the peer has begun, and not what it was never told to go on with", async () => {
    const broken = peer({
      async *stream() {
        yield WORKING;
        throw new A2AError("UNAVAILABLE", "gone");
      },
    });
    await expect(all(broken)).rejects.toThrow("gone");
    expect(broken.cancelled).toEqual(["T"]);

    const away = peer({
      // oxlint-disable-next-line require-yield
      async *stream() {
        throw new A2AError("UNAVAILABLE", "nobody");
      },
    });
    await expect(all(away, { taskId: "T" })).rejects.toThrow("nobody");
    expect(away.cancelled).toEqual([]);
  });

  it("does not begin once it is aborted", async () => {
    const untouched = peer({
      // oxlint-disable-next-line require-yield
      async *stream() {
        throw new Error("asked all the same");
      },
    });
    const signal = AbortSignal.abort(new Error("before"));
    await expect(all(untouched, { signal })).rejects.toThrow("before");
  });
});
