import { describe, expect, it } from "vitest";
import { A2AError, type StreamResponse, type Task, type TaskState } from "../protocol/index.ts";
import {
  sendAndStreamUntilTurnEnd,
  type TurnStreamOptions,
  type TurnStreamClient,
} from "./send-and-stream-until-turn-end.ts";

type TaskResult = { task: Task };

const createTaskResult = (state: TaskState): TaskResult => ({
  task: { id: "T", contextId: "C", status: { state } },
});
const WORKING = createTaskResult("TASK_STATE_WORKING");
const INPUT_REQUIRED = createTaskResult("TASK_STATE_INPUT_REQUIRED");
const COMPLETED = createTaskResult("TASK_STATE_COMPLETED");

interface ClientScript {
  stream?: (signal: AbortSignal) => AsyncIterable<StreamResponse>;
  send?: () => TaskResult;
  get?: () => TaskResult;
}

/** A client that follows a script and records canceled tasks. */
class ScriptedClient implements TurnStreamClient {
  readonly cancelledTaskIds: string[] = [];
  readonly card: TurnStreamClient["card"];
  readonly tasks: TurnStreamClient["tasks"];
  readonly #script: ClientScript;

  constructor(script: ClientScript) {
    this.#script = script;
    this.card = { capabilities: { streaming: script.stream !== undefined } };
    this.tasks = {
      subscribe: async function* (_id, { signal } = {}) {
        for (;;) {
          yield script.get?.() ?? COMPLETED;
          signal?.throwIfAborted();
        }
      },
      cancel: async (id) => {
        this.cancelledTaskIds.push(id);
        throw new A2AError("TASK_NOT_CANCELABLE", "too late");
      },
    };
  }

  stream: TurnStreamClient["stream"] = (_, options) => {
    const { signal } = options ?? {};
    if (!signal || !this.#script.stream) throw new Error("not to be asked like this");
    return this.#script.stream(signal);
  };
  send: TurnStreamClient["send"] = async () => this.#script.send?.() ?? COMPLETED;
}

const createScriptedClient = (script: ClientScript): ScriptedClient => new ScriptedClient(script);

async function collectExchange(
  client: TurnStreamClient,
  options: Partial<TurnStreamOptions> = {},
): Promise<StreamResponse[]> {
  const output: StreamResponse[] = [];
  const { signal } = new AbortController();
  for await (const one of sendAndStreamUntilTurnEnd(client, "hi", { signal, ...options })) output.push(one);
  return output;
}

describe("a message exchange", () => {
  it("ends when the task ends or waits, even if the stream stays open", async () => {
    const open = createScriptedClient({
      async *stream() {
        yield WORKING;
        yield createTaskResult("TASK_STATE_AUTH_REQUIRED");
        await new Promise(() => {});
      },
    });
    expect(await collectExchange(open)).toHaveLength(2);
    expect(open.cancelledTaskIds).toEqual([]);
  });

  it("omits the previous state of a continued task, unless it is the answer", async () => {
    const goesOn = createScriptedClient({
      async *stream() {
        yield INPUT_REQUIRED;
        yield COMPLETED;
      },
    });
    expect(await collectExchange(goesOn, { taskId: "T" })).toEqual([COMPLETED]);
    const refuses = createScriptedClient({
      async *stream() {
        yield INPUT_REQUIRED;
      },
    });
    expect(await collectExchange(refuses, { taskId: "T" })).toEqual([INPUT_REQUIRED]);
    expect(refuses.cancelledTaskIds).toEqual([]);
  });

  it("polls the task of an agent without streaming until it ends", async () => {
    let looks = 0;
    const slow = createScriptedClient({
      send: () => WORKING,
      get: () => (++looks < 2 ? WORKING : COMPLETED),
    });
    expect(await collectExchange(slow)).toEqual([WORKING, COMPLETED]);
    expect(slow.cancelledTaskIds).toEqual([]);
  });

  it("that is left early cancels its task", async () => {
    const busy = createScriptedClient({
      async *stream() {
        yield WORKING;
        yield WORKING;
      },
    });
    const { signal } = new AbortController();
    for await (const _ of sendAndStreamUntilTurnEnd(busy, "hi", { signal })) break;
    expect(busy.cancelledTaskIds).toEqual(["T"]);
  });

  it("that is aborted before its task is known waits for the task and cancels it [J20]", async () => {
    const abort = new AbortController();
    const delayed = createScriptedClient({
      async *stream(signal) {
        abort.abort(new Error("enough"));
        expect(signal.aborted).toBe(false);
        yield WORKING;
      },
    });
    await expect(collectExchange(delayed, { signal: abort.signal })).rejects.toThrow("enough");
    expect(delayed.cancelledTaskIds).toEqual(["T"]);
  });

  it("that is aborted while it polls cancels its task [J20]", async () => {
    const abort = new AbortController();
    const slow = createScriptedClient({
      send: () => WORKING,
      get: () => {
        abort.abort(new Error("enough"));
        return WORKING;
      },
    });
    await expect(collectExchange(slow, { signal: abort.signal })).rejects.toThrow("enough");
    expect(slow.cancelledTaskIds).toEqual(["T"]);
  });

  it("that fails cancels a started task, but not a continued task that never received the message", async () => {
    const broken = createScriptedClient({
      async *stream() {
        yield WORKING;
        throw new A2AError("UNAVAILABLE", "gone");
      },
    });
    await expect(collectExchange(broken)).rejects.toThrow("gone");
    expect(broken.cancelledTaskIds).toEqual(["T"]);

    const away = createScriptedClient({
      // oxlint-disable-next-line require-yield
      async *stream() {
        throw new A2AError("UNAVAILABLE", "unknown");
      },
    });
    await expect(collectExchange(away, { taskId: "T" })).rejects.toThrow("unknown");
    expect(away.cancelledTaskIds).toEqual([]);
  });

  it("does not start if the signal is already aborted", async () => {
    const untouched = createScriptedClient({
      // oxlint-disable-next-line require-yield
      async *stream() {
        throw new Error("asked all the same");
      },
    });
    const signal = AbortSignal.abort(new Error("before"));
    await expect(collectExchange(untouched, { signal })).rejects.toThrow("before");
  });
});
