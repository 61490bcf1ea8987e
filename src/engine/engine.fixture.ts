import {
  A2AError,
  type Message,
  type SendMessageRequest,
  type Task,
  type TaskEvent,
} from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import type { Agent, AgentEvent, Run } from "./agent.ts";
import type { Clock } from "./clock.ts";
import { Committer } from "./committer.ts";
import type { EngineOptions } from "./assemble-engine.ts";
import { Engine } from "./engine.ts";
import type { Observer } from "./observer.ts";
import type { TaskStore } from "./task-store.ts";
import type { TurnPolicy } from "./turn-limits.ts";
import type { Subscription } from "./log-subscription.ts";

/** A clock that only the test advances. */
export class FakeClock implements Clock {
  time: number = Date.UTC(2026, 0, 1);
  /** Difference in milliseconds between the wall clock and the monotonic clock. */
  wallClockOffsetMs: number = 0;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.time + this.wallClockOffsetMs;
  }

  monotonic(): number {
    return this.time;
  }

  schedule(ms: number, callback: () => void): () => void {
    const timer = { at: this.time + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  scheduleTurn(callback: () => void): void {
    setImmediate(callback);
  }

  get pendingTimerCount(): number {
    return this.#timers.length;
  }

  advance(ms: number): void {
    this.time += ms;
    const due = this.#timers.filter(({ at }) => at <= this.time);
    this.#timers = this.#timers.filter(({ at }) => at > this.time);
    for (const { callback } of due) callback();
  }
}

/** A run of a `ScriptedAgent`, whose events the test emits. */
export class ScriptedRun {
  readonly run: Run;
  /** Number of events that the engine has pulled. */
  pulledCount = 0;
  isReturned = false;
  #steps: (() => AgentEvent | undefined)[] = [];
  #wake: (() => void) | undefined;

  constructor(run: Run) {
    this.run = run;
  }

  emit(...events: AgentEvent[]): this {
    for (const event of events) this.#addStep(() => event);
    return this;
  }

  end(): this {
    return this.#addStep(() => undefined);
  }

  fail(error: unknown): this {
    return this.#addStep(() => {
      throw error;
    });
  }

  async *iterateEvents(): AsyncGenerator<AgentEvent> {
    try {
      for (;;) {
        const step = this.#steps.shift();
        if (!step) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          continue;
        }
        const event = step();
        if (!event) return;
        this.pulledCount++;
        yield event;
      }
    } finally {
      this.isReturned = true;
    }
  }

  #addStep(step: () => AgentEvent | undefined): this {
    this.#steps.push(step);
    this.#wake?.();
    return this;
  }
}

/** An agent whose events the test emits. */
export class ScriptedAgent implements Agent {
  readonly runs: ScriptedRun[] = [];
  readonly respondsWith?: "task" | "either";
  readonly whileWorking?: "refuse" | "queue";
  readonly concurrentTurns?: "queue" | "refuse" | "parallel";
  readonly afterRestart?: "fail" | "restart" | "resume";
  readonly maxSilenceMs?: number;
  readonly maxTurnMs?: number;
  readonly whenUnread?: Agent["whenUnread"];
  #runWaiters: { count: number; resolve: () => void }[] = [];

  constructor(
    options: Pick<
      Agent,
      "respondsWith" | "whileWorking" | "concurrentTurns" | "afterRestart" | keyof TurnPolicy
    > = {},
  ) {
    if (options.maxSilenceMs) this.maxSilenceMs = options.maxSilenceMs;
    if (options.whenUnread) this.whenUnread = options.whenUnread;
    if (options.maxTurnMs) this.maxTurnMs = options.maxTurnMs;
    if (options.concurrentTurns) this.concurrentTurns = options.concurrentTurns;
    if (options.afterRestart) this.afterRestart = options.afterRestart;
    if (options.respondsWith) this.respondsWith = options.respondsWith;
    if (options.whileWorking) this.whileWorking = options.whileWorking;
  }

  describe(): { name: string; description: string } {
    return { name: "puppet", description: "Emits the events of a test." };
  }

  execute(run: Run): AsyncIterable<AgentEvent> {
    const scriptedRun = new ScriptedRun(run);
    this.runs.push(scriptedRun);
    for (const { count, resolve } of this.#runWaiters) if (this.runs.length >= count) resolve();
    return scriptedRun.iterateEvents();
  }

  /** Resolves with the run at index `at` once it has started. */
  async waitForRun(at: number): Promise<ScriptedRun> {
    if (this.runs.length <= at) {
      await new Promise<void>((resolve) => this.#runWaiters.push({ count: at + 1, resolve }));
    }
    return this.runs[at] as ScriptedRun;
  }
}

export interface EngineFixture {
  readonly engine: Engine;
  readonly store: TaskStore;
  readonly clock: FakeClock;
  readonly agent: ScriptedAgent;
  readonly errors: unknown[];
}

export type EngineFixtureOptions = Partial<Omit<EngineOptions, "agent">> & {
  agent?: ScriptedAgent;
  observer?: Observer;
};

/** Creates an engine with a scripted agent and an open store. */
export function createEngineFixture({
  agent = new ScriptedAgent(),
  store = new MemoryStore(),
  ...options
}: EngineFixtureOptions = {}): EngineFixture {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock();
  const errors: unknown[] = [];
  const observer: Observer = { onError: ({ error }) => errors.push(error), ...options.observer };
  const committer = options.committer ?? new Committer(store, clock);
  const engine = new Engine({
    agentId: "puppet",
    ...options,
    agent,
    store,
    clock,
    observer,
    committer,
  });
  return { engine, store, clock, agent, errors };
}

/** Creates an engine like a new process, which holds no leases. The store may have served an earlier process. */
export function createProcessFixture(options: EngineFixtureOptions = {}): EngineFixture {
  void options.store?.open();
  return createEngineFixture(options);
}

export const alice = { tenant: "", principal: "alice" };
export const bob = { tenant: "", principal: "bob" };
export const createTestTaskScopeForCaller = (
  caller: typeof alice,
): { agent: string; tenant: string; principal: string } => ({
  agent: "puppet",
  ...caller,
});

let lastTestMessageIdNumber = 0;
/** Creates a request with a new message id. */
export function createTestSendMessageRequest(
  text: string,
  { configuration, ...message }: Partial<Message> & Pick<SendMessageRequest, "configuration"> = {},
): SendMessageRequest {
  const whole: Message = {
    messageId: `m-${++lastTestMessageIdNumber}`,
    role: "ROLE_USER",
    parts: [{ text }],
    ...message,
  };
  return configuration ? { message: whole, configuration } : { message: whole };
}

export const workingTestEvent: AgentEvent = { status: { state: "TASK_STATE_WORKING" } };
export const inputRequiredTestEvent: AgentEvent = {
  status: { state: "TASK_STATE_INPUT_REQUIRED", message: { parts: [{ text: "which?" }] } },
};
export const completedTestEvent: AgentEvent = { status: { state: "TASK_STATE_COMPLETED" } };
export function createTestChunkEvent(text: string, append = true, artifactId = "a"): AgentEvent {
  return append
    ? { artifact: { artifactId, parts: [{ text }] }, append }
    : { artifact: { artifactId, parts: [{ text }] } };
}

/** Resolves with all events of a subscription until its end. */
export async function collectSubscriptionEventsForTest(
  subscription: Subscription,
): Promise<{ seq: number; event: TaskEvent }[]> {
  const all: { seq: number; event: TaskEvent }[] = [];
  for (let batch = await subscription.next(); batch; batch = await subscription.next()) {
    for (const { seq, event } of batch) all.push({ seq, event });
  }
  return all;
}

/** Formats an event as a short string. */
export function formatTaskEventForTest(event: TaskEvent): string {
  if ("task" in event) return `task ${event.task.status.state.slice("TASK_STATE_".length)}`;
  if ("statusUpdate" in event) return event.statusUpdate.status.state.slice("TASK_STATE_".length);
  if ("artifactUpdate" in event) {
    return event.artifactUpdate.artifact.parts.map((part) => ("text" in part ? part.text : "?")).join("");
  }
  return "message";
}

/** Runs all pending work that waits neither for time nor for the test. */
export async function flushEventLoopForTest(turns = 20): Promise<void> {
  for (let at = 0; at < turns; at++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Returns the task of a response. */
export const getTestResponseTask = (answer: object): Task => (answer as { task: Task }).task;

/** Resolves with the reason of the `A2AError` that rejects the promise. */
export async function getRejectionA2AErrorReasonForTest(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof A2AError) return error.reason;
    throw error;
  }
  return "nothing";
}
