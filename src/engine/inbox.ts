import {
  A2AError,
  isInterrupted,
  isTerminal,
  type Message,
  type SendMessageRequest,
} from "../protocol/index.ts";
import { Deferred } from "../data-structures/index.ts";
import { toTasklessReply } from "./to-task-event.ts";
import type { Agent, AgentEvent } from "./agent.ts";
import type { Caller, TaskScope } from "./caller.ts";
import { restoreCaller, type PersistedTurn } from "./persisted-turn.ts";
import type { IdGenerator } from "./id-generator.ts";
import { CallerStates, type CallerState } from "./caller-states.ts";
import { ConcurrencyLimit, createLimitError, type EngineLimits } from "./limits.ts";
import { RelatedTasks } from "./related-tasks.ts";
import { createTaskEndedError, type Runner } from "./runner.ts";
import type { RunnerRegistry } from "./runner-registry.ts";
import { isSameMessage } from "./same-message.ts";
import type { ServiceParameters } from "./service-parameters.ts";
import type { TaskStore } from "./task-store.ts";
import { Turn, type AgentOutput } from "./turn.ts";

/**
 * What became of a message: a turn of a task; no turn, because it came again when its own was long over, or the agent at
 * work took it (the runner is held, and to be let go); or a plain reply.
 */
export type AcceptResult =
  | { readonly runner: Runner; readonly turn: Turn }
  | { readonly runner: Runner; readonly seq: number }
  | { readonly reply: Message };

/** What the inbox works with. */
export interface InboxContext {
  readonly agent: Agent;
  readonly store: TaskStore;
  readonly runners: RunnerRegistry;
  readonly generateId: IdGenerator;
  readonly limits: EngineLimits;
  readonly deduplicateMessages: boolean;
}

/** A message on its way in. */
interface InboundMessage {
  readonly scope: TaskScope;
  readonly request: SendMessageRequest;
  readonly caller: Caller;
  readonly serviceParameters: ServiceParameters;
  readonly callerState: CallerState<InFlightMessage>;
}

/** A message that is not durable yet. */
interface InFlightMessage {
  readonly message: Message;
  readonly result: Promise<AcceptResult>;
}

/** Takes messages in: finds or begins their task, and lets each message of a caller count only once (E10). */
export class Inbox {
  readonly #context: InboxContext;
  readonly #runLimit: ConcurrencyLimit;
  readonly #callerStates: CallerStates<InFlightMessage>;

  constructor(context: InboxContext) {
    this.#context = context;
    this.#runLimit = new ConcurrencyLimit("agents at work", context.limits.runs);
    this.#callerStates = new CallerStates(context.limits);
  }

  /** `scope`: that of the caller. */
  async accept(
    scope: TaskScope,
    {
      request,
      caller,
      serviceParameters: service,
    }: Pick<InboundMessage, "request" | "caller" | "serviceParameters">,
  ): Promise<AcceptResult> {
    const letter = {
      scope,
      request,
      caller,
      serviceParameters: service,
      callerState: this.#callerStates.getOrCreate(scope),
    };
    if (!this.#context.deduplicateMessages) return await this.#route(letter);
    const { inFlightMessages: inFlight } = letter.callerState;
    const { message } = letter.request;
    const earlier = inFlight.get(message.messageId);
    if (earlier) {
      if (!isSameMessage(message, earlier.message)) throw createDuplicateMessageIdError(message);
      const accepted = await earlier.result;
      if ("seq" in accepted) accepted.runner.retain();
      return accepted;
    }
    const accepting = this.#routeOrRepeat(letter);
    const entry = { message, result: accepting };
    inFlight.insertNew(message.messageId, entry);
    const forget = (): void => inFlight.deleteIfValue(message.messageId, entry);
    try {
      const accepted = await accepting;
      if ("turn" in accepted) void accepted.turn.acceptedSeq.promise.then(forget, forget);
      else forget();
      return accepted;
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** A turn that an earlier process began; throws when there is no place for it. `message`: with its task's ids. */
  resumeTurn(scope: TaskScope, kept: PersistedTurn, message: Message): Turn {
    const caller = restoreCaller(scope, kept);
    const request = { ...kept.request, message };
    // Its task is there, whatever the agent says first this time.
    const service = { ...kept.service, needsTask: true };
    const letter = {
      scope,
      request,
      caller,
      serviceParameters: service,
      callerState: this.#callerStates.getOrCreate(scope),
    };
    return this.#createTurn(letter, message, kept.attempt + 1);
  }

  async #routeOrRepeat(letter: InboundMessage): Promise<AcceptResult> {
    const { scope, request } = letter;
    const known = await this.#context.store.findMessage(scope, request.message.messageId);
    return known ? await this.#acceptDuplicate(scope, request.message, known) : await this.#route(letter);
  }

  #route(letter: InboundMessage): AcceptResult | Promise<AcceptResult> {
    const { taskId } = letter.request.message;
    return taskId ? this.#continueTask(letter, taskId) : this.#createTask(letter);
  }

  /** A message that was accepted before. */
  async #acceptDuplicate(
    scope: TaskScope,
    message: Message,
    known: { taskId: string; seq: number },
  ): Promise<AcceptResult> {
    const { store, runners } = this.#context;
    const [logged] = await store.readEvents(scope, known.taskId, known.seq - 1, { events: 1, maxBytes: 1 });
    const first = logged && findTurnMessage(logged.event);
    if (!first || !isSameMessage(message, first)) throw createDuplicateMessageIdError(message);
    const runner = await runners.findAndRetain(scope, known.taskId);
    if (!runner) throw A2AError.taskNotFound(known.taskId);
    const { currentTurn: turn } = runner;
    if (turn?.startPoint?.seq !== known.seq) return { runner, seq: known.seq };
    runner.release();
    return { runner, turn };
  }

  async #continueTask(letter: InboundMessage, taskId: string): Promise<AcceptResult> {
    const { scope, request } = letter;
    const runner = await this.#context.runners.findAndRetain(scope, taskId);
    if (!runner) throw A2AError.taskNotFound(taskId);
    try {
      const { contextId } = runner.liveTask;
      this.#assertTaskAccepts(runner, request.message);
      if (isWorking(runner)) {
        const delivered = new Deferred<number>();
        const message = { ...request.message, taskId, contextId };
        if (runner.offerMessage(message, letter.caller, delivered)) {
          const seq = await delivered.promise;
          return { runner: runner.retain(), seq };
        }
        this.#assertAcceptsWhileWorking(runner);
      }
      this.#assertQueueNotFull(runner);
      const turn = this.#createTurn(letter, { ...request.message, taskId, contextId });
      runner.startOrQueueTurn(turn);
      return { runner, turn };
    } finally {
      runner.release();
    }
  }

  /** Throws when a message may not go to that task. */
  #assertTaskAccepts({ liveTask: live }: Runner, message: Message): void {
    const { taskId, state } = live;
    if (message.contextId && message.contextId !== live.contextId) {
      const description = `task ${taskId} is in another context; leave contextId out, or give the task's own`;
      throw A2AError.invalidParams([{ field: "message.contextId", description }]);
    }
    if (!state || isTerminal(state)) throw createTaskEndedError(taskId, state);
  }

  /** Throws when the agent takes no message while it is at work. */
  #assertAcceptsWhileWorking({ liveTask: { taskId } }: Runner): void {
    if (this.#context.agent.whileWorking === "queue") return;
    const text = `Task ${taskId} is at work and takes no message meanwhile; wait until it stops, or cancel it.`;
    throw new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId } });
  }

  /** Throws when too many messages wait behind the turn already. */
  #assertQueueNotFull({ liveTask: { taskId }, queuedCount: queued }: Runner): void {
    const { queuedTurns } = this.#context.limits;
    if (queued >= queuedTurns) throw createLimitError(`messages waiting for task ${taskId}`, queuedTurns);
  }

  #createTask(letter: InboundMessage): AcceptResult | Promise<AcceptResult> {
    const { agent, runners, generateId: newId } = this.#context;
    const { message } = letter.request;
    const taskId = newId();
    const contextId = message.contextId ?? newId();
    const turn = this.#createTurn(letter, { ...message, taskId, contextId });
    const runner = runners.create(letter.scope, taskId, contextId);
    if (agent.respondsWith === "either" && !letter.serviceParameters.needsTask)
      return this.#startBeforeTask(runner, turn);
    runner.startOrQueueTurn(turn);
    return { runner, turn };
  }

  /** Lets the agent's first event decide whether there is a task at all. */
  async #startBeforeTask(runner: Runner, turn: Turn): Promise<AcceptResult> {
    const { agent, generateId: newId } = this.#context;
    runner.reserveForTurn(turn);
    const speech = await readFirstEvent(() => turn.startAgent(agent, runner.buildTurnTask(turn.message)));
    if (turn.hasEnded) {
      void runner.closeIterator(speech.iterator);
      return { runner, turn };
    }
    const first = speech.firstResult?.value;
    if (typeof first !== "object" || first === null || !("message" in first)) {
      runner.startOrQueueTurn(turn, speech);
      return { runner, turn };
    }
    runner.discard();
    turn.end();
    void runner.closeIterator(speech.iterator);
    return { reply: toTasklessReply(runner.liveTask.contextId, first.message, newId) };
  }

  /** A turn that holds its place among the agents at work until it ends. */
  #createTurn(
    { scope, request, caller, serviceParameters: service, callerState: desk }: InboundMessage,
    message: Message,
    attempt = 1,
  ): Turn {
    const all = this.#runLimit;
    // Who may choose the tenant would have as many places as there are names.
    const own = caller.choseTenant
      ? this.#callerStates.getOrCreate({ ...caller, tenant: "" }).runLimit
      : desk.runLimit;
    all.acquire();
    try {
      own.acquire();
    } catch (error) {
      all.release();
      throw error;
    }
    const { store, runners } = this.#context;
    const others = new RelatedTasks(store, runners, scope, message);
    const turn = new Turn(request, message, caller, service, others, attempt);
    turn.onEnd(() => {
      all.release();
      own.release();
    });
    return turn;
  }
}

/** An agent is at work on the task, and does not wait for its user. */
function isWorking({ liveTask: { state }, currentTurn: turn }: Runner): boolean {
  return turn !== undefined && !turn.hasEnded && state !== undefined && !isInterrupted(state);
}

/** Begins an agent and waits for the first that it says; what it throws is heard again by whoever goes on listening. */
async function readFirstEvent(begin: () => AgentOutput): Promise<AgentOutput> {
  try {
    const { iterator } = begin();
    return { iterator, firstResult: await iterator.next() };
  } catch (error) {
    return { iterator: { next: (): Promise<IteratorResult<AgentEvent>> => Promise.reject(error) } };
  }
}

/** The message with which a logged event began a turn. */
export function findTurnMessage(event: { task?: unknown } | object): Message | undefined {
  if ("message" in event) return event.message as Message;
  if ("task" in event) return (event.task as { history?: Message[] }).history?.at(-1);
  return undefined;
}

function createDuplicateMessageIdError({ messageId }: Message): A2AError {
  const description = `${messageId} was used before for another message; give every new message an id of its own`;
  return A2AError.invalidParams([{ field: "message.messageId", description }]);
}
