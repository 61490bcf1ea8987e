import { Deferred } from "../base/data-structures/index.ts";
import { A2AError, isTerminal, type JsonObject } from "../protocol/index.ts";
import {
  systemClock,
  type Clock,
  generateUuidV7,
  type IdGenerator,
  type Observer,
  createServerClosingError,
} from "../engine/index.ts";
import type { NodeStore, SharedTaskStore, TaskRequest } from "./node-store.ts";
import { Poller } from "./poller.ts";
import type { FollowedTask } from "./followed-task.ts";
import { LogPoller } from "./log-poller.ts";
import { encodeErrorAnswer } from "./owner-requests.ts";

/** Delay in milliseconds between two polls for requests and answers, without hints. */
const POLL_DELAY_MS = 50;
/** Delay in milliseconds between two polls with hints, or while no other node is alive. */
const IDLE_POLL_DELAY_MS = 500;
/** Time in milliseconds after which a request to another node fails. Exceeds the default lease and its recovery. */
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Answers a request of another node. Resolves with `undefined` if this node does not run the turn of the task, or not
 * yet.
 */
type TaskRequestHandler = (request: TaskRequest) => Promise<JsonObject | undefined>;

export interface NodeLinkOptions {
  readonly store: SharedTaskStore;
  readonly clock?: Clock;
  readonly observer?: Pick<Observer, "onError" | "onWarning">;
  /** Creates the ids of requests to other nodes. */
  readonly generateId?: IdGenerator;
}

/**
 * Connects the engines of this node with the other nodes of their store. All messages between nodes are rows of the
 * store: the logs of tasks, requests for the node that runs a turn, and their answers. Hints only make a node read
 * earlier. Engines with the same store share one link.
 */
export class NodeLink {
  readonly logs: LogPoller;
  readonly nodes: NodeStore;
  readonly #clock: Clock;
  readonly #observer: Pick<Observer, "onError" | "onWarning">;
  readonly #handlersByAgent = new Map<string, TaskRequestHandler>();
  readonly #workListeners = new Map<string, () => void>();
  readonly #pendingAnswers = new Map<string, Deferred<JsonObject | undefined>>();
  readonly #requestPoller: Poller;
  readonly #answerPoller: Poller;
  #removeHintListener: (() => void) | undefined;

  private constructor(nodes: NodeStore, options: NodeLinkOptions) {
    const { store, clock = systemClock, observer = {}, generateId = generateUuidV7 } = options;
    this.nodes = nodes;
    this.#clock = clock;
    this.#observer = observer;
    const sendRequest: NodeLink["sendRequest"] = (task, request) => this.sendRequest(task, request);
    this.logs = new LogPoller({ store, nodes, clock, observer, generateId, sendRequest });
    nodes.hints?.onUnsupported?.((message) => observer.onWarning?.({ where: "store", message }));
    this.#requestPoller = new Poller(
      clock,
      () => this.#takeRequests(),
      () => (nodes.holdsLeases ? this.#getPollDelayMs(nodes.hasOtherNodes) : undefined),
    );
    this.#answerPoller = new Poller(
      clock,
      () => this.#takeAnswers(),
      () => (this.#pendingAnswers.size > 0 ? this.#getPollDelayMs(true) : undefined),
    );
  }

  /** Creates the link of a store, or returns `undefined` if only one process can open the store. */
  static create(options: NodeLinkOptions): NodeLink | undefined {
    return options.store.nodes && new NodeLink(options.store.nodes, options);
  }

  /**
   * Answers the requests of other nodes for the tasks of an agent. `onWork` is called when a turn may wait for a node
   * that starts agents. The store must be open.
   */
  serveAgent(agentId: string, handler: TaskRequestHandler, onWork: () => void): void {
    this.#handlersByAgent.set(agentId, handler);
    this.#workListeners.set(agentId, onWork);
    this.#removeHintListener ??= this.nodes.hints?.onHint((hint) => {
      this.logs.handleHint(hint);
      if (hint.kind === "work" || hint.kind === "any")
        for (const wake of this.#workListeners.values()) wake();
      if (hint.kind === "request" || hint.kind === "any") this.#requestPoller.wake();
      if ((hint.kind === "answer" || hint.kind === "any") && this.#pendingAnswers.size > 0)
        this.#answerPoller.wake();
    });
    this.#requestPoller.update();
  }

  /** Stops to answer requests for an agent. After the last agent, the link stops. */
  closeAgent(agentId: string): void {
    this.#handlersByAgent.delete(agentId);
    this.#workListeners.delete(agentId);
    if (this.#handlersByAgent.size > 0) return;
    const error = createServerClosingError();
    this.#removeHintListener?.();
    this.#requestPoller.stop(error);
    this.#answerPoller.stop(error);
    this.logs.stop(error);
    for (const answer of this.#pendingAnswers.values()) answer.reject(error);
  }

  /** Announces a waiting turn, so that a node that starts agents claims the turn at once. */
  notifyWork(): void {
    if (this.nodes.hasOtherNodes) this.nodes.hints?.send({ kind: "work" });
    for (const wake of this.#workListeners.values()) wake();
  }

  /** Announces a commit of a task to the other nodes. The first commit of a turn has acquired the lease of the task. */
  announceCommit(taskId: string): void {
    if (!this.#requestPoller.isScheduled) this.#requestPoller.update();
    if (this.nodes.hasOtherNodes) this.nodes.hints?.send({ kind: "events", taskIds: [taskId] });
  }

  /**
   * Sends a request to the node that runs the turn of a followed task, and resolves with the answer. Resolves with
   * `undefined` if the turn has ended without an answer, so that this node can process the request itself. Rejects with
   * `UNAVAILABLE` if the other node does not answer in time.
   */
  async sendRequest(task: FollowedTask, request: TaskRequest): Promise<JsonObject | undefined> {
    if (!(await this.nodes.insertRequest(request, REQUEST_TIMEOUT_MS))) return undefined;
    const answer = new Deferred<JsonObject | undefined>();
    this.#pendingAnswers.set(request.id, answer);
    // The link has stopped meanwhile.
    if (this.#handlersByAgent.size === 0) answer.reject(createServerClosingError());
    this.nodes.hints?.send({ kind: "request", taskIds: [task.taskId] });
    this.#answerPoller.update();
    const cancelTimer = this.#clock.schedule(REQUEST_TIMEOUT_MS, () =>
      answer.reject(createNodeSilentError(task.taskId)),
    );
    try {
      return await Promise.race([answer.promise, untilTurnEnds(task, answer)]);
    } finally {
      cancelTimer();
      // An answer has deleted its request.
      if (this.#pendingAnswers.delete(request.id)) void this.nodes.deleteRequest(request.id).catch(() => {});
    }
  }

  #getPollDelayMs(hasOtherNodes: boolean): number {
    return hasOtherNodes && !this.nodes.hints?.isReceiving ? POLL_DELAY_MS : IDLE_POLL_DELAY_MS;
  }

  async #takeRequests(): Promise<void> {
    if (!this.nodes.holdsLeases) return;
    for (const request of await this.nodes.takeRequests()) void this.#answerRequest(request);
  }

  async #answerRequest(request: TaskRequest): Promise<void> {
    const { id, taskId } = request;
    const answer = await this.#handleRequest(request);
    try {
      if (!answer) return await this.nodes.returnRequest(id);
      await this.nodes.answerRequest({ id, answer });
      this.nodes.hints?.send({ kind: "answer", taskIds: [taskId] });
    } catch (error) {
      // The request times out on the other node.
      this.#observer.onError?.({ where: "store", error, taskId });
    }
  }

  async #handleRequest(request: TaskRequest): Promise<JsonObject | undefined> {
    try {
      return await this.#handlersByAgent.get(request.scope.agent)?.(request);
    } catch (error) {
      if (!(error instanceof A2AError))
        this.#observer.onError?.({ where: "engine", error, taskId: request.taskId });
      return encodeErrorAnswer(error);
    }
  }

  async #takeAnswers(): Promise<void> {
    if (this.#pendingAnswers.size === 0) return;
    for (const { id, answer } of await this.nodes.takeAnswers([...this.#pendingAnswers.keys()])) {
      this.#pendingAnswers.get(id)?.resolve(answer);
      this.#pendingAnswers.delete(id);
    }
  }
}

/** Resolves once the turn has ended. After the answer, the function no longer waits. */
async function untilTurnEnds(task: FollowedTask, answer: Pick<Deferred, "isSettled">): Promise<undefined> {
  while (!answer.isSettled && task.hasUnfinishedTurn && !isTerminal(task.state))
    await task.waitForCommitOrTurnChange();
  return undefined;
}

function createNodeSilentError(taskId: string): A2AError {
  const text = `The server that runs task ${taskId} did not answer within ${REQUEST_TIMEOUT_MS / 1000} seconds; try again in a moment.`;
  return new A2AError("UNAVAILABLE", text, { retryAfter: 1, metadata: { taskId } });
}
