import {
  A2AError,
  fold,
  isInterrupted,
  isRefusal,
  isTerminal,
  snapshot,
  stateName,
  type JsonObject,
  type Message,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import type { Deferred } from "../base/index.ts";
import { toMessage, toStatusUpdate, toTaskEvent } from "./agent-event.ts";
import type { Agent } from "./agent.ts";
import { Anew } from "./anew.ts";
import type { Caller, Scope } from "./caller.ts";
import { toKeptTurn } from "./kept-turn.ts";
import type { NewId } from "./new-id.ts";
import { LiveTask, type LiveTaskListener, type LogContext } from "./live-task.ts";
import { registrationWith } from "./push/webhooks.ts";
import type { Speech, Turn } from "./turn.ts";

/** What all runners of an engine share. */
export interface RunnerContext extends LogContext {
  readonly agent: Agent;
  readonly newId: NewId;
  /** How long an agent may take to stop, in milliseconds. */
  readonly cancelGraceMs: number;
  /** The runner has neither work nor readers left. */
  readonly onIdle: (runner: Runner) => void;
}

/**
 * Brings a task forward: one turn at a time (E11) it has the agent work and writes what it says, and what it leaves
 * unsaid, into the live task. Nothing here waits for a reader (E2).
 */
export class Runner implements LiveTaskListener {
  readonly live: LiveTask;
  readonly #context: RunnerContext;
  readonly #queue: Turn[] = [];
  #turn: Turn | undefined;
  #readers = 0;

  constructor(
    context: RunnerContext,
    ids: { scope: Scope; taskId: string; contextId: string },
    stored?: { task: Task; seq: number },
  ) {
    this.#context = context;
    this.live = new LiveTask(context, this, ids, stored);
  }

  /** The turn that is at work, or whose last events are being committed. */
  get turn(): Turn | undefined {
    return this.#turn;
  }

  get hasReaders(): boolean {
    return this.#readers > 0;
  }

  /** How many turns wait behind it. */
  get queued(): number {
    return this.#queue.length;
  }

  /** Keeps this runner alive for a reader, or for somebody who has found it, until that one lets go. */
  hold(): this {
    this.#readers++;
    return this;
  }

  letGo(): void {
    this.#readers--;
    this.rest();
  }

  /** Has the turn's agent heard before there is a task; `take` or `dismiss` follows. */
  hear(turn: Turn): void {
    this.#turn = turn;
  }

  /** There is no task after all. */
  dismiss(): void {
    this.#turn = undefined;
    this.#context.onIdle(this);
  }

  /** Begins a turn, or queues it behind the running one. `speech`: its agent, when that speaks already. */
  take(turn: Turn, speech?: Speech): void {
    if (this.#turn && this.#turn !== turn) {
      this.#queue.push(turn);
      return;
    }
    const { live } = this;
    const found = this.find(turn.message);
    turn.found = { task: found, seq: live.seq + 1 };
    const event: TaskEvent = live.state === undefined ? { task: found } : { message: turn.message };
    const { message, accepted, request, service } = turn;
    const webhook = registrationWith(request, live.taskId, service);
    const refusal = live.acceptMessage(event, message.messageId, accepted, webhook);
    if (refusal) {
      turn.fail(refusesMessages(live.taskId, live.state));
      this.rest();
      return;
    }
    this.#turn = turn;
    this.#enter(turn);
    if (this.#context.keepTurns) live.keep(toKeptTurn(turn, turn.found.seq));
    // Who asks from now on must not be told that the task waits for what it has just been given.
    if (live.state && isInterrupted(live.state)) this.#moveTo("TASK_STATE_WORKING");
    void this.#work(turn, found, speech);
  }

  /**
   * Has the agent work again on a turn that an earlier process began with the message at `seq`. `found`: the task as the
   * turn found it. Begins once the attempt is durable: a turn that kills its process does so only so often.
   */
  async again(turn: Turn, seq: number, found: Task, how: "restart" | "resume"): Promise<void> {
    const { live } = this;
    const task = how === "restart" ? found : snapshot(live.snapshot());
    turn.found = { task: snapshot(found), seq };
    if (how === "restart") turn.anew = new Anew(turn.found.task);
    turn.accepted.resolve(seq);
    this.#turn = turn;
    this.#enter(turn);
    this.#moveTo("TASK_STATE_WORKING");
    live.keep(toKeptTurn(turn, seq));
    await live.changed();
    if (!turn.ended) void this.#work(turn, task);
  }

  #enter(turn: Turn): void {
    const { committer } = this.#context;
    committer.enter();
    turn.onEnd(() => committer.leave());
  }

  /** Asks the agent to stop; one that does not within the grace period is fenced off (E8). */
  cancel(reason: string, caller: Caller, metadata: JsonObject): void {
    const turn = this.#turn;
    if (!turn || turn.ended) {
      const found = this.live.snapshot();
      this.#moveTo("TASK_STATE_CANCELED");
      void this.#tellCancelled(found, caller, metadata);
    } else if (!turn.cancelled) {
      turn.cancelled = metadata;
      turn.abort(reason);
      this.#fenceAfter(turn, this.#context.cancelGraceMs);
    }
  }

  /** Lets the agent take a message for the turn that is at work; `accepted` is told its seq. False: it does not. */
  deliver(message: Message, caller: Caller, accepted: Deferred<number>): boolean {
    const { live } = this;
    if (!this.#context.agent.deliver?.(message, snapshot(live.snapshot()), caller)) return false;
    const refusal = live.acceptMessage({ message }, message.messageId, accepted);
    if (refusal) throw refusesMessages(live.taskId, live.state);
    return true;
  }

  async #tellCancelled(found: Task, caller: Caller, metadata: JsonObject): Promise<void> {
    try {
      await this.#context.agent.cancelled?.(found, caller, metadata);
    } catch (error) {
      this.#report(error);
    }
  }

  /**
   * Stops the agent because the server closes: the task fails with that reason unless the agent ends it otherwise, or can
   * go on with it after a restart. Resolves once all of that is committed; rejects when the task waits for the restart.
   */
  async stop(reason: string, graceMs: number): Promise<void> {
    for (const queued of this.#queue.splice(0)) queued.fail(closing());
    const turn = this.#turn;
    if (!turn) return;
    if (!turn.ended) {
      turn.stopReason = reason;
      turn.abort(reason);
      this.#fenceAfter(turn, graceMs);
      await new Promise<void>((resolve) => turn.onEnd(resolve));
    }
    if (this.#turn === turn) await turn.stopped.promise;
  }

  /** Records that nobody works on this task any more, though its state says so. */
  orphaned(reason: string): void {
    this.#moveTo("TASK_STATE_FAILED", reason);
  }

  /** The task as a turn with that message finds it. */
  find(message: Message): Task {
    const { live } = this;
    if (live.state === undefined) {
      const status = { state: "TASK_STATE_SUBMITTED", timestamp: live.now() } as const;
      return { id: live.taskId, contextId: live.contextId, status, history: [message] };
    }
    const found = fold(snapshot(live.snapshot()), { message });
    return isRefusal(found) ? live.snapshot() : found;
  }

  async #work(turn: Turn, found: Task, speech?: Speech): Promise<void> {
    const { observer, agent } = this.#context;
    const who = { scope: this.live.scope, taskId: this.live.taskId };
    observer.onRun?.({ ...who, phase: "begin" });
    try {
      await this.#listen(turn, speech ?? turn.begin(agent, found));
      this.#conclude(turn);
      observer.onRun?.({ ...who, phase: "end" });
    } catch (error) {
      this.#concludeFailed(turn, error);
      observer.onRun?.({ ...who, phase: "end", error });
    }
    this.#release(turn);
  }

  /** Writes down what the agent says until it ends or is cut off, no faster than the store takes it. */
  async #listen(turn: Turn, { iterator, first }: Speech): Promise<void> {
    const { live } = this;
    const timestamp = (): string => live.now();
    let ended = false;
    try {
      let step = first ?? (await iterator.next());
      while (!step.done) {
        if (turn.fenced) return;
        const said = toTaskEvent(live, step.value, timestamp, this.#context.newId);
        const event = turn.anew ? turn.anew.of(said) : said;
        if (this.#isKnown(turn, event)) {
          step = await iterator.next();
          continue;
        }
        const refusal = live.accept(event);
        if (refusal)
          throw new A2AError("INVALID_AGENT_RESPONSE", `The agent went on wrongly: ${refusal.refused}.`);
        if ("statusUpdate" in event) turn.state = event.statusUpdate.status.state;
        const room = live.room();
        if (room) await room;
        step = await iterator.next();
      }
      ended = true;
    } finally {
      // An agent that is left before its end is told so, but not waited for.
      if (!ended) void this.leave(iterator);
    }
  }

  /** An agent that begins by saying that it works, in a turn that has said so already. */
  #isKnown(turn: Turn, event: TaskEvent): boolean {
    const isFirst = turn.found?.seq === 1 && turn.attempt === 1;
    if (turn.state !== undefined || isFirst || !("statusUpdate" in event)) return false;
    const { status, metadata } = event.statusUpdate;
    return (
      status.state === "TASK_STATE_WORKING" &&
      this.live.state === status.state &&
      !status.message &&
      !metadata
    );
  }

  /** Tells an agent that nobody listens to it any more. */
  async leave(iterator: Speech["iterator"]): Promise<void> {
    try {
      await iterator.return?.();
    } catch (error) {
      this.#report(error);
    }
  }

  /** The agent returned: what it has not said itself is said now. */
  #conclude(turn: Turn): void {
    const { state } = this.live;
    if (turn.fenced || !state || isTerminal(state)) return;
    if (turn.cancelled) this.#moveTo("TASK_STATE_CANCELED");
    else if (turn.stopReason) {
      if (!this.#handsOver(turn)) this.#moveTo("TASK_STATE_FAILED", turn.stopReason);
    } else if (!turn.state || !isInterrupted(turn.state)) this.#moveTo("TASK_STATE_COMPLETED");
  }

  /** True when the server stopped the agent within a turn that a later one begins again. */
  #handsOver({ stopReason, cancelled }: Turn): boolean {
    const { keepTurns, store } = this.#context;
    return stopReason !== undefined && !cancelled && keepTurns && store.durable === true;
  }

  #concludeFailed(turn: Turn, thrown: unknown): void {
    const { state } = this.live;
    if (turn.cancelled || turn.stopReason) this.#conclude(turn);
    else if (turn.fenced || !state || isTerminal(state)) this.#report(thrown);
    else this.#moveTo("TASK_STATE_FAILED", this.#failureText(thrown));
  }

  /** What a caller may know: an A2AError is made for callers, anything else stays in the server's log. */
  #failureText(thrown: unknown): string {
    const errorId = this.#context.newId().slice(0, 8);
    this.#report(thrown, errorId);
    return thrown instanceof A2AError
      ? thrown.message
      : `The agent failed. The server's log has the cause under error id ${errorId}.`;
  }

  #fenceAfter(turn: Turn, graceMs: number): void {
    const forget = this.#context.clock.after(graceMs, () => {
      this.#conclude(turn);
      turn.fenced = true;
      if (this.live.state === undefined) this.#abandon(turn);
      else this.#release(turn);
    });
    turn.onEnd(forget);
  }

  /** Gives up an agent that never said whether there is a task. */
  #abandon(turn: Turn): void {
    this.dismiss();
    turn.fail(closing());
  }

  /** The turn is over once its last events are committed. */
  #release(turn: Turn): void {
    if (turn.ended) return;
    turn.end();
    this.rest();
  }

  /** Once nothing is left to commit, a turn that ended makes room for the next; a runner that nobody needs goes. */
  rest(): void {
    if (this.live.busy) return;
    if (this.#turn?.ended) {
      // Whoever waits for a turn that goes on after a restart hears nothing of a task at work, and asks again then.
      if (this.#handsOver(this.#turn)) this.#turn.stopped.reject(closing());
      else this.#turn.stopped.resolve(this.live.snapshot());
      this.#turn = undefined;
    }
    if (this.#turn) return;
    const next = this.#queue.shift();
    if (next) this.take(next);
    else if (this.#readers === 0) this.#context.onIdle(this);
  }

  onStop(): void {
    this.#turn?.stopped.resolve(this.live.snapshot());
  }

  onRest(): void {
    this.rest();
  }

  /** The store has given the task up, and so does this. */
  onFailure(error: A2AError): void {
    const turns = this.#turn ? [this.#turn, ...this.#queue] : [...this.#queue];
    this.#turn = undefined;
    this.#queue.length = 0;
    for (const turn of turns) {
      turn.abort(error.message);
      turn.fail(error);
    }
    this.#context.onIdle(this);
  }

  #moveTo(state: TaskState, text?: string): void {
    const message =
      text === undefined ? undefined : toMessage(this.live, { parts: [{ text }] }, this.#context.newId);
    const refusal = this.live.accept(toStatusUpdate(this.live, state, this.live.now(), message));
    if (refusal) this.#report(new Error(refusal.refused));
  }

  #report(error: unknown, errorId?: string): void {
    const seen = { where: "agent", error, taskId: this.live.taskId };
    this.#context.observer.onError?.(errorId ? { ...seen, errorId } : seen);
  }
}

/** The refusal of a message by a server that closes. */
export function closing(): A2AError {
  return new A2AError("UNAVAILABLE", "The server is closing; try again in a moment.", { retryAfter: 1 });
}

/** The refusal of a message to a task that takes no more (A2A §3.1.1). */
export function refusesMessages(taskId: string, state: TaskState | undefined): A2AError {
  const is = state ? stateName(state) : "gone";
  return new A2AError(
    "UNSUPPORTED_OPERATION",
    `Task ${taskId} is ${is} and takes no more messages; send the message without a taskId to begin a new task in the same context.`,
    { metadata: { taskId } },
  );
}
