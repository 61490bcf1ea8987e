import { A2AError, isTerminal, type Message } from "../protocol/index.ts";
import { Deferred, SlotReuseMap } from "../base/data-structures/index.ts";
import { getCallerKey } from "./caller.ts";
import { toStoredMessage } from "./replaceable-agent.ts";
import { decideMessageOutcome, type MessageOutcome } from "./decide-message-outcome.ts";
import { measureRequestSize } from "./log-events.ts";
import { createLimitError, type EngineLimits } from "./engine-limits.ts";
import {
  createDuplicateMessageIdError,
  createMessageRefusalError,
  createMessageTooLargeError,
  createTaskEndedError,
} from "./task-errors.ts";
import type { Acceptance, OtherNodes } from "./other-nodes.ts";
import type { InboundMessage, MessageAcceptResult, TurnProgress } from "./task-feed.ts";
import type { ActiveTask, ActiveTaskDependencies } from "./active-task.ts";
import type { TaskRegistry } from "./task-registry.ts";
import { findUserMessageInEvent, findUserMessageInHistory, isSameMessage } from "./repeated-messages.ts";
import { type RequestWaitLimit, assertStoreAcceptsNewWork } from "./store-health.ts";
import type { StoredMessage } from "./task-store.ts";
import type { TurnFactory } from "./turn-factory.ts";
import { toTasklessReply } from "./to-task-event.ts";
import type { StartedAgentIterator, Turn } from "./turn.ts";
import type { AgentEvent } from "./agent.ts";

interface MessageAcceptorDependencies extends Pick<
  ActiveTaskDependencies,
  "agent" | "store" | "generateId" | "deduplicateMessages" | "startsTurns"
> {
  readonly tasks: TaskRegistry;
  readonly turnFactory: TurnFactory;
  readonly limits: EngineLimits;
  readonly requestWaitLimit: RequestWaitLimit;
  readonly otherNodes: OtherNodes;
  /** Throws an error once the engine is closing. */
  readonly assertOpen: () => void;
}

interface InFlightMessage {
  readonly message: Message;
  readonly acceptance: Acceptance;
}

/**
 * Accepts messages. The `MessageAcceptor` finds or creates the task of each message and deduplicates the
 * messages of each caller by message id (E10).
 */
export class MessageAcceptor {
  readonly #context: MessageAcceptorDependencies;
  /** The uncommitted messages of all callers. */
  readonly #inFlightMessages = new SlotReuseMap<InFlightMessage>();

  constructor(context: MessageAcceptorDependencies) {
    this.#context = context;
  }

  /** Accepts a message. `inbound.scope` must be the caller's scope. Throws if the id belongs to another message. */
  acceptMessage(inbound: InboundMessage): Acceptance {
    if (!this.#context.deduplicateMessages)
      return this.#limitWait(inbound, this.#continueOrCreateTask(inbound));
    const { message } = inbound.request;
    const { messageId } = message;
    const key = `${messageId.length}:${messageId}${getCallerKey(inbound.scope)}`;
    const earlier = this.#inFlightMessages.get(key);
    if (earlier) {
      if (!isSameMessage(message, earlier.message)) throw createDuplicateMessageIdError(message);
      return this.#limitWait(inbound, retainFeed(earlier.acceptance));
    }
    const acceptance = this.#accept(inbound);
    const entry = { message, acceptance };
    this.#inFlightMessages.insertNew(key, entry);
    const removeEntry = (): void => this.#inFlightMessages.deleteIfValue(key, entry);
    const removeOnceDurable = (accepted: MessageAcceptResult): void => {
      if ("turn" in accepted) accepted.turn.durableSeq.onSettled(removeEntry);
      else removeEntry();
    };
    if (acceptance instanceof Promise) void acceptance.then(removeOnceDurable, removeEntry);
    else removeOnceDurable(acceptance);
    return this.#limitWait(inbound, acceptance);
  }

  /** Limits the time for which a message waits for the store. */
  #limitWait({ request: { message } }: InboundMessage, acceptance: Acceptance): Acceptance {
    const { agent, requestWaitLimit } = this.#context;
    if (!(acceptance instanceof Promise)) return acceptance;
    // The first event of an agent that starts before its task does not need the store.
    if (!message.taskId && agent.current.respondsWith === "either") return acceptance;
    return requestWaitLimit.wait(acceptance, (accepted) => {
      if ("seq" in accepted) accepted.feed.release();
    });
  }

  #accept(inbound: InboundMessage): Acceptance {
    return this.#context.otherNodes.acceptMessage((isRetry) => this.#tryToAccept(inbound, isRetry));
  }

  /** Accepts a message, unless the store knows a message with the same id. */
  #tryToAccept(inbound: InboundMessage, isRetry: boolean): Acceptance {
    const { agent, otherNodes, store } = this.#context;
    const { messageId, taskId } = inbound.request.message;
    // If the agent starts after the commit, the unique key of the store refuses the repeated message of a new task.
    const mayBeKnown = !otherNodes.areAlive || isRetry || taskId || agent.current.respondsWith === "either";
    const known = mayBeKnown ? store.findMessage(inbound.scope, messageId) : undefined;
    if (known !== undefined && "then" in known)
      return known.then((found) => this.#acceptAfterLookup(inbound, found));
    return this.#acceptAfterLookup(inbound, known);
  }

  #acceptAfterLookup(inbound: InboundMessage, known: StoredMessage | undefined): Acceptance {
    return known ? this.#acceptDuplicate(inbound, known) : this.#continueOrCreateTask(inbound);
  }

  #continueOrCreateTask(inbound: InboundMessage): Acceptance {
    // The engine can start to close while the message waits for the store.
    this.#context.assertOpen();
    assertStoreAcceptsNewWork(this.#context.store.health);
    const { taskId } = inbound.request.message;
    return taskId ? this.#continueTask(inbound, taskId) : this.#createTask(inbound);
  }

  /** Handles a message with the id of an earlier accepted message. */
  async #acceptDuplicate(inbound: InboundMessage, known: StoredMessage): Promise<MessageAcceptResult> {
    const { store, tasks } = this.#context;
    const { scope, request } = inbound;
    const { message } = request;
    if (known.seq === 0) return await this.#acceptDuplicateOfQueuedMessage(inbound, known.taskId);
    const [logged] = await store.readEvents(scope, known.taskId, known.seq - 1, { events: 1, maxBytes: 1 });
    const task = await tasks.openFeed(scope, known.taskId);
    if (!task) throw A2AError.taskNotFound(known.taskId);
    const original = logged
      ? findUserMessageInEvent(logged.event)
      : findUserMessageInHistory(task.getSnapshot(), message.messageId);
    const isRepeated =
      original &&
      (isSameMessage(message, original) ||
        isSameMessage(toStoredMessage(message, this.#context.agent.current), original));
    if (!isRepeated) {
      task.release();
      throw createDuplicateMessageIdError(message);
    }
    let turn: TurnProgress | undefined;
    try {
      turn = await task.findRunningTurn(message, known.seq, inbound.serviceParameters.isStreaming);
    } catch (error) {
      task.release();
      throw error;
    }
    if (!turn) return { feed: task, seq: known.seq };
    task.release();
    return { feed: task, turn };
  }

  /** Handles a repeated message that waits for its turn, or that the end of its task discarded. */
  async #acceptDuplicateOfQueuedMessage(
    inbound: InboundMessage,
    taskId: string,
  ): Promise<MessageAcceptResult> {
    const { scope, request } = inbound;
    const task = await this.#context.tasks.open(scope, taskId);
    if (!task) throw A2AError.taskNotFound(taskId);
    try {
      const { state } = task;
      if (!state || isTerminal(state)) throw createTaskEndedError(taskId, state);
      const turn = await task.findQueuedTurn(request.message);
      if (turn) return { feed: task, turn, isQueued: true };
    } finally {
      task.release();
    }
    // The task here can be outdated, because its agent still runs after a question that another node has continued.
    const current = await this.#context.tasks.openFeed(scope, taskId);
    try {
      const turn = await current?.findQueuedTurn(request.message);
      if (current && turn) return { feed: current, turn, isQueued: true };
    } finally {
      current?.release();
    }
    // Without a turn, it has begun and ended since the query, so the store now has the message with its event.
    return await this.#accept(inbound);
  }

  async #continueTask(inbound: InboundMessage, taskId: string): Promise<MessageAcceptResult> {
    const { tasks } = this.#context;
    const opened = await tasks.open(inbound.scope, taskId);
    if (!opened) throw A2AError.taskNotFound(taskId);
    try {
      if (opened.turnStatus === "awaiting-recovery") throw tasks.requestRecovery(taskId);
      const acceptHere = (task: ActiveTask): Promise<MessageAcceptResult> => this.#acceptHere(inbound, task);
      // The node of the turn can have accepted the message before it stopped.
      return (await opened.acceptMessage(inbound, acceptHere)) ?? (await this.#accept(inbound));
    } finally {
      opened.release();
    }
  }

  /** Accepts a message to a task whose turns run on this node. */
  async #acceptHere(inbound: InboundMessage, task: ActiveTask): Promise<MessageAcceptResult> {
    const { scope, request } = inbound;
    const { taskId, contextId } = task;
    this.#context.assertOpen();
    if (task.exceedsLimitWith(measureRequestSize(inbound)))
      throw createMessageTooLargeError(this.#context.limits.taskSize);
    assertSameContext(task, request.message);
    const message = { ...request.message, taskId, contextId };
    let outcome = this.#decideOutcome(inbound, task, task.agent.deliver !== undefined);
    if (outcome.action === "deliver") {
      const durableSeq = new Deferred<number>();
      if (task.offerMessageToAgent(message, inbound.caller, durableSeq)) {
        const seq = await durableSeq.promise;
        return { feed: task.retain(), seq };
      }
      outcome = this.#decideOutcome(inbound, task, false);
    }
    if (outcome.action === "refuse") throw createMessageRefusalError(outcome.refusal, taskId, task.state);
    if (outcome.action === "start" && !this.#context.startsTurns())
      return this.#submitTurn(inbound, taskId, contextId, task);
    this.#assertQueueNotFull(task);
    this.#context.agent.contextTurns?.assertAcceptsTurn(scope, contextId, taskId);
    const turn = this.#context.turnFactory.createTurn(inbound, message);
    if (outcome.action === "start") {
      task.startOrQueueTurn(turn);
      return { feed: task, turn };
    }
    const queued = task.queueTurn(turn);
    // Interrupt before the queued turn can begin.
    if (outcome.action === "interrupt") task.interruptTurn();
    await queued;
    const { state } = task;
    // The agent has ended the task in the same commit, so the turn cannot begin.
    if (turn.hasEnded && state && isTerminal(state)) throw createTaskEndedError(taskId, state);
    return { feed: task, turn, isQueued: true };
  }

  /** Commits a message whose turn another node starts. */
  #submitTurn(
    inbound: InboundMessage,
    taskId: string,
    contextId: string,
    task?: ActiveTask,
  ): MessageAcceptResult {
    const { tasks, turnFactory } = this.#context;
    const turn = turnFactory.createTurn(inbound, { ...inbound.request.message, taskId, contextId });
    const feed = tasks.createSubmitter(inbound.scope, taskId, contextId, task);
    feed.startOrQueueTurn(turn);
    return { feed, turn };
  }

  #decideOutcome(
    { serviceParameters }: InboundMessage,
    task: ActiveTask,
    canDeliver: boolean,
  ): MessageOutcome {
    const { taskId, state } = task;
    if (!state) throw A2AError.taskNotFound(taskId);
    const { whileWorking = "refuse", interruptible = false } = task.agent;
    return decideMessageOutcome({
      turnStatus: task.turnStatus,
      taskState: state,
      canDeliver,
      whileWorking,
      steering: serviceParameters.steering,
      isInterruptible: interruptible,
    });
  }

  /** Throws an error if too many messages wait for the current turn of the task. */
  #assertQueueNotFull({ taskId, queuedTurnCount }: ActiveTask): void {
    const { queuedTurns } = this.#context.limits;
    if (queuedTurnCount >= queuedTurns)
      throw createLimitError(`waiting messages for task ${taskId}`, queuedTurns);
  }

  #createTask(inbound: InboundMessage): Acceptance {
    const { agent, tasks, generateId } = this.#context;
    const { message } = inbound.request;
    const { taskSize } = this.#context.limits;
    if (measureRequestSize(inbound) > taskSize) throw createMessageTooLargeError(taskSize);
    const taskId = generateId();
    const contextId = message.contextId ?? generateId();
    if (!this.#context.startsTurns()) return this.#submitTurn(inbound, taskId, contextId);
    agent.contextTurns?.assertAcceptsTurn(inbound.scope, contextId, taskId);
    const turn = this.#context.turnFactory.createTurn(inbound, { ...message, taskId, contextId });
    const task = tasks.create(inbound.scope, taskId, contextId);
    if (agent.current.respondsWith === "either" && !inbound.serviceParameters.needsTask)
      return startAgentBeforeTask(task, turn, this.#context);
    task.startOrQueueTurn(turn);
    return { feed: task, turn };
  }
}

/** Throws an error if the message belongs to another context than the task. */
function assertSameContext({ taskId, contextId }: ActiveTask, message: Message): void {
  if (!message.contextId || message.contextId === contextId) return;
  const description = `task ${taskId} belongs to another context; omit contextId, or use the task's contextId`;
  throw A2AError.invalidParams([{ field: "message.contextId", description }]);
}

/** Keeps the feed of an accepted message for another request with the same message. */
async function retainFeed(acceptance: Acceptance): Promise<MessageAcceptResult> {
  const accepted = await acceptance;
  if ("seq" in accepted) accepted.feed.retain();
  return accepted;
}

/** Starts the agent before its task exists. The agent's first event decides whether the task is created. */
async function startAgentBeforeTask(
  task: ActiveTask,
  turn: Turn,
  { agent, generateId }: Pick<MessageAcceptorDependencies, "agent" | "generateId">,
): Promise<MessageAcceptResult> {
  task.reserveForTurnWithoutTask(turn);
  await agent.contextTurns?.enterTurn(task.scope, turn);
  // The server closes while the turn waits for its context.
  if (turn.isAborted) {
    task.onTurnEnd(turn);
    return { feed: task, turn };
  }
  const output = await readFirstAgentEvent(turn, () =>
    turn.startAgent(task.buildTaskWithMessage(turn.message)),
  );
  // A turn that has exceeded a limit without a first event continues with a task that fails.
  if (turn.limitReason && output.firstResult?.done) void turn.closeIterator(output.iterator);
  if (turn.hasEnded) {
    void turn.closeIterator(output.iterator);
    return { feed: task, turn };
  }
  const firstEvent = output.firstResult?.value;
  if (typeof firstEvent !== "object" || firstEvent === null || !("message" in firstEvent)) {
    task.startOrQueueTurn(turn, output);
    return { feed: task, turn };
  }
  task.discardWithoutTask();
  turn.end();
  void turn.closeIterator(output.iterator);
  return { reply: toTasklessReply(task.contextId, firstEvent.message, generateId) };
}

/**
 * Starts an agent and waits for its first event. If the agent throws an error before its first event, the
 * returned iterator throws the same error.
 */
async function readFirstAgentEvent(
  turn: Pick<Turn, "runInSpan" | "abandonFirstEvent">,
  startAgent: () => StartedAgentIterator,
): Promise<StartedAgentIterator> {
  try {
    const { iterator } = startAgent();
    const abandoned = new Promise<IteratorResult<AgentEvent>>((resolve) => {
      turn.abandonFirstEvent = () => resolve({ done: true, value: undefined });
    });
    const firstResult = await Promise.race([turn.runInSpan(() => iterator.next()), abandoned]);
    return { iterator, firstResult };
  } catch (error) {
    return { iterator: { next: (): Promise<IteratorResult<AgentEvent>> => Promise.reject(error) } };
  }
}
