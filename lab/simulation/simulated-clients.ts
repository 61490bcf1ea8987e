import { A2AError, isTerminal, type LogEvent, type SendMessageRequest } from "../../src/protocol/index.ts";
import type { Subscription } from "../../src/engine/index.ts";
import type { Chance } from "./chance.ts";
import type { ClientAction } from "./plan.ts";
import { toMessageKey, type PromiseChecks } from "./promise-checks.ts";
import { ALICE, BOB } from "./callers.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Number of times that a client repeats a request that was not accepted. */
const MAX_RETRIES = 12;
/** Time in milliseconds after which a client repeats a request without a response. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Context of a turn that takes longer than the grace period without a reader, and the time of its reader. */
export const OUTLASTING_CONTEXT = 9;
const READER_CHANGE_MS = 3000;

/** Result of a request. `retry` means that its outcome is unknown or that the node is not available. */
type RequestResult<T> = { readonly value: T } | "retry" | "refused";

interface SentMessage {
  readonly request: SendMessageRequest;
  readonly isStreaming: boolean;
  readonly interrupts: boolean;
  /** Task of the first response to the message. */
  taskId: string | undefined;
}

/** A stream that a client reads. */
interface ClientStream {
  readonly process: SimulatedProcess;
  readonly subscription: Subscription;
  readonly taskId: string;
  /** Number of the last event, or `undefined` before the first event. */
  lastSeq: number | undefined;
  isOpen: boolean;
  readonly recordEnd: () => void;
}

/** The clients of a simulation. They send requests to any node, and repeat requests that fail. */
export class SimulatedClients {
  readonly #time: VirtualTime;
  readonly #chance: Chance;
  readonly #checks: PromiseChecks;
  readonly #nodes: readonly { readonly process: SimulatedProcess }[];
  readonly #messages: SentMessage[] = [];
  readonly #taskIds: string[] = [];
  readonly #streams = new Set<ClientStream>();
  /** Last event that a client has received of each task. */
  readonly #seenSeqs = new Map<string, number>();
  readonly #canceledTaskIds = new Set<string>();
  /** Number of requests without a response. */
  pendingCount = 0;

  constructor(
    time: VirtualTime,
    chance: Chance,
    checks: PromiseChecks,
    nodes: readonly { readonly process: SimulatedProcess }[],
  ) {
    this.#time = time;
    this.#chance = chance;
    this.#checks = checks;
    this.#nodes = nodes;
  }

  perform(action: ClientAction): void {
    if (action.kind === "send" || action.kind === "follow up") this.#sendNew(action);
    else if (action.kind === "resend") {
      const message = pickModulo(this.#messages, action.message);
      if (message) void this.#sendWithRetries(message, action.node);
    } else if (action.kind === "disconnect") {
      const stream = pickModulo(this.listOpenStreams(), action.stream);
      if (stream) this.#leave(stream);
    } else {
      const taskId = pickModulo(this.#taskIds, action.task);
      if (taskId === undefined) return;
      if (action.kind === "subscribe") void this.#subscribe(taskId, action.node, action.resumes);
      else if (action.kind === "cancel") void this.#cancel(taskId, action.node);
      else if (action.kind === "get") void this.#get(taskId, action.node);
      else void this.#spy(taskId, action.node);
    }
  }

  /** Returns the streams whose process is alive. */
  listOpenStreams(): ClientStream[] {
    return [...this.#streams].filter(({ isOpen, process }) => isOpen && process.isAlive);
  }

  /** Describes a stream that has not delivered everything, if there is one. */
  describeUnreadStream(): string | undefined {
    for (const { taskId, lastSeq = 0 } of this.listOpenStreams()) {
      const { events, states } = this.#checks.histories.get(taskId) ?? { events: [], states: [] };
      const state = states.at(-1);
      if (lastSeq < events.length)
        return `a reader of task ${taskId} has event ${lastSeq} of ${events.length}`;
      if (state && isTerminal(state)) return `a stream of the finished task ${taskId} does not end`;
    }
    return undefined;
  }

  /**
   * Begins a turn that takes longer than the grace period without a reader. Its reader stays, leaves, or moves to
   * another node, or the client only polls.
   */
  sendOutlastingLater(ms: number, chance: Chance): void {
    const node = chance.below(this.#nodes.length);
    const reader = chance.pick(["stays", "leaves", "leaves", "moves", "moves", "polls"]);
    const hasWebhook = chance.isTrue(0.25);
    // The simulation does not end before.
    this.pendingCount++;
    this.#time.schedule("outlasting turn", ms, () => {
      this.pendingCount--;
      const isStreaming = reader !== "polls";
      const returnImmediately = !isStreaming;
      this.#sendNew({
        kind: "send",
        node,
        isStreaming,
        returnImmediately,
        hasWebhook,
        context: OUTLASTING_CONTEXT,
      });
      const message = this.#messages.at(-1);
      const listOwnStreams = (): ClientStream[] =>
        this.listOpenStreams().filter(({ taskId }) => taskId === message?.taskId);
      const leaveAll = (streams: readonly ClientStream[]): void => streams.forEach((one) => this.#leave(one));
      this.#time.schedule("reader changes", READER_CHANGE_MS, () => {
        const streams = listOwnStreams();
        if (reader === "leaves") leaveAll(streams);
        if (reader !== "moves" || message?.taskId === undefined) return;
        void this.#subscribe(message.taskId, (node + 1) % this.#nodes.length, false);
        this.#time.schedule("reader has moved", READER_CHANGE_MS, () => leaveAll(streams));
      });
    });
  }

  #leave(stream: ClientStream): void {
    this.#close(stream);
    this.#checks.unread.watchLastReader(stream.process, stream.taskId, (ms, check) =>
      this.#time.schedule("unread", ms, check),
    );
  }

  /** Checks the promises about the end of a simulation. */
  checkEnd(): void {
    for (const { request, taskId } of this.#messages) {
      const { messageId } = request.message;
      const key = toMessageKey(ALICE, messageId);
      if (taskId === undefined || this.#checks.discardedMessages.has(key)) continue;
      if (this.#checks.loggedMessages.get(key) !== taskId)
        this.#checks.breakPromise("E9", `task ${taskId} has lost the acknowledged message ${messageId}`);
    }
    for (const taskId of this.#canceledTaskIds)
      if (this.#checks.histories.get(taskId)?.states.at(-1) !== "TASK_STATE_CANCELED")
        this.#checks.breakPromise("E8", `the canceled task ${taskId} is not canceled`);
  }

  #sendNew(action: Extract<ClientAction, { kind: "send" | "follow up" }>): void {
    const taskId = action.kind === "follow up" ? pickModulo(this.#taskIds, action.task) : undefined;
    if (action.kind === "follow up" && taskId === undefined) return;
    const webhook =
      action.kind === "send" && action.hasWebhook ? { id: "w", url: "https://receiver.example/" } : undefined;
    const message: SentMessage = {
      request: {
        message: {
          messageId: `m${this.#messages.length + 1}`,
          role: "ROLE_USER",
          parts: [{ text: "go" }],
          ...(action.kind === "send" ? { contextId: `c${action.context}` } : { taskId: taskId as string }),
        },
        configuration: {
          returnImmediately: action.returnImmediately,
          ...(webhook ? { taskPushNotificationConfig: webhook } : {}),
        },
      },
      isStreaming: action.isStreaming,
      interrupts: action.kind === "follow up" && action.interrupts,
      taskId: undefined,
    };
    this.#messages.push(message);
    void this.#sendWithRetries(message, action.node);
  }

  async #sendWithRetries(message: SentMessage, node: number): Promise<void> {
    const result = await this.#requestWithRetries("send", node, (process) => this.#send(message, process));
    if (typeof result === "string") return;
    const taskId = result.value;
    if (message.taskId !== undefined && message.taskId !== taskId)
      this.#checks.breakPromise("E10", `message ${message.request.message.messageId} is in two tasks`);
    message.taskId = taskId;
    if (!this.#taskIds.includes(taskId)) this.#taskIds.push(taskId);
  }

  /** Sends a message, and resolves with the id of its task. Reads the rest of a stream in the background. */
  async #send({ request, isStreaming, interrupts }: SentMessage, process: SimulatedProcess): Promise<string> {
    const { engine } = process;
    const service = interrupts ? ({ steering: "interrupt" } as const) : {};
    const isReader = isStreaming || request.configuration?.returnImmediately !== true;
    const endRequest = isReader ? this.#checks.unread.openRequest(request.message.messageId) : undefined;
    if (!isStreaming) {
      const response = await engine.sendMessage(request, ALICE, service).finally(endRequest);
      if (!("task" in response)) throw new Error("The agent never replies without a task.");
      return response.task.id;
    }
    const subscription = await engine
      .sendStreamingMessage(request, ALICE, { ...service, includesMessages: true })
      .finally(endRequest);
    const first = await subscription.next();
    const event = first?.[0]?.event;
    if (!first || !event || !("task" in event)) {
      this.#checks.breakPromise("E3", "a stream does not begin with its task");
      return "";
    }
    const taskId = event.task.id;
    const recordEnd = this.#checks.unread.openStream(process, taskId);
    this.#read({ process, subscription, taskId, lastSeq: undefined, isOpen: true, recordEnd }, first);
    return taskId;
  }

  async #cancel(taskId: string, node: number): Promise<void> {
    const result = await this.#requestWithRetries("cancel", node, ({ engine }) =>
      engine.cancelTask({ id: taskId }, ALICE),
    );
    if (typeof result === "string") return;
    const { state } = result.value.status;
    if (state === "TASK_STATE_CANCELED") this.#canceledTaskIds.add(taskId);
    // The agent can end the task while it is stopping.
    else if (!isTerminal(state)) this.#checks.breakPromise("E8", `a canceled task ${taskId} is ${state}`);
  }

  async #get(taskId: string, node: number): Promise<void> {
    const result = await this.#request("get", node, ({ engine }) =>
      engine.getTaskWithSeq({ id: taskId }, ALICE),
    );
    if (typeof result === "string") return;
    const { task, seq } = result.value;
    const state = this.#checks.histories.get(taskId)?.states[seq - 1];
    if (state !== task.status.state)
      this.#checks.breakPromise("E1", `a reader sees ${task.status.state} at event ${seq} of task ${taskId}`);
  }

  /** Requests a task of another caller. */
  async #spy(taskId: string, node: number): Promise<void> {
    const result = await this.#request("spy", node, ({ engine }) => engine.getTask({ id: taskId }, BOB));
    if (typeof result !== "string") this.#checks.breakPromise("E13", `bob reads task ${taskId} of alice`);
  }

  async #subscribe(taskId: string, node: number, resumes: boolean): Promise<void> {
    const seenSeq = this.#seenSeqs.get(taskId);
    const resumeAfterSeq = resumes ? seenSeq : undefined;
    await this.#request("subscribe", node, async (process) => {
      const service = { includesMessages: true, resumeAfterSeq };
      this.#checks.unread.recordSubscription(taskId);
      const subscription = await process.engine.subscribeToTask({ id: taskId }, ALICE, service);
      const recordEnd = this.#checks.unread.openStream(process, taskId);
      this.#read({ process, subscription, taskId, lastSeq: resumeAfterSeq, isOpen: true, recordEnd }, []);
    });
  }

  /** Reads a stream until its end in the background. */
  #read(stream: ClientStream, first: readonly LogEvent[]): void {
    this.#streams.add(stream);
    this.#receive(stream, first);
    const readRest = async (): Promise<void> => {
      for (;;) {
        const events = await stream.subscription.next();
        if (!events) break;
        this.#receive(stream, events);
      }
    };
    void readRest()
      .catch((error: unknown) => {
        // The client resumes a broken stream with another node.
        this.#reportUnexpectedError(error);
        const node = this.#chance.below(this.#nodes.length);
        const resume = (): void => void this.#subscribe(stream.taskId, node, true);
        this.#time.schedule("resume", this.#chance.between(50, 500), resume);
      })
      .finally(() => this.#close(stream));
  }

  #receive(stream: ClientStream, events: readonly LogEvent[]): void {
    if (!stream.isOpen) return;
    for (const event of events) {
      const { seq } = event;
      const isSnapshot = "task" in event.event && stream.lastSeq === undefined;
      if (stream.lastSeq !== undefined && seq !== stream.lastSeq + 1)
        this.#checks.breakPromise(
          "E3",
          `a reader of ${stream.taskId} receives ${seq} after ${stream.lastSeq}`,
        );
      this.#checks.checkReadEvent(stream.taskId, event, isSnapshot && seq > 1);
      stream.lastSeq = seq;
      this.#seenSeqs.set(stream.taskId, seq);
    }
  }

  #close(stream: ClientStream): void {
    stream.isOpen = false;
    stream.recordEnd();
    this.#streams.delete(stream);
    stream.subscription.close();
  }

  async #requestWithRetries<T>(
    label: string,
    firstNode: number,
    operation: (process: SimulatedProcess) => Promise<T>,
  ): Promise<RequestResult<T>> {
    let node = firstNode;
    for (let attempt = 0; attempt <= MAX_RETRIES; attempt++) {
      const result = await this.#request(label, node, operation);
      if (result !== "retry") return result;
      await new Promise<void>((resolve) =>
        this.#time.schedule(`${label} again`, this.#chance.between(100, 1500), resolve),
      );
      node = this.#chance.below(this.#nodes.length);
    }
    return "retry";
  }

  /** Performs a request on a node. The connection breaks when the process ends. */
  #request<T>(
    label: string,
    node: number,
    operation: (process: SimulatedProcess) => Promise<T>,
  ): Promise<RequestResult<T>> {
    this.pendingCount++;
    return new Promise((resolve) => {
      const end = (result: RequestResult<T>): void => {
        this.pendingCount--;
        resolve(result);
      };
      this.#time.schedule(`${label} arrives`, this.#chance.between(0.5, 10), () => {
        const process = this.#nodes[node]?.process;
        if (!process?.isReady) return end("retry");
        let isDone = false;
        const answer = (result: RequestResult<T>): void => {
          if (isDone) return;
          isDone = true;
          forgetEnd();
          cancelTimeout();
          this.#time.schedule(`${label} answered`, this.#chance.between(0.5, 10), () => end(result));
        };
        const forgetEnd = process.onEnd(() => answer("retry"));
        const cancelTimeout = this.#time.schedule(`${label} timeout`, REQUEST_TIMEOUT_MS, () =>
          answer("retry"),
        );
        // The process handles the request as soon as it is not paused.
        this.#time.schedule(
          `${process.name} ${label}`,
          0,
          () => {
            operation(process).then(
              (value) => answer({ value }),
              (error: unknown) => answer(this.#reportUnexpectedError(error)),
            );
          },
          process,
        );
      });
    });
  }

  /** Returns whether a request can be repeated after an error. Every other error is a defect. */
  #reportUnexpectedError(error: unknown): "retry" | "refused" {
    const reason = error instanceof A2AError ? error.reason : undefined;
    if (reason === "UNAVAILABLE" || reason === "RESOURCE_EXHAUSTED") return "retry";
    if (reason === undefined || reason === "INTERNAL")
      this.#checks.breakPromise(
        "no internal errors",
        error instanceof Error ? (error.stack ?? "") : String(error),
      );
    return "refused";
  }
}

function pickModulo<T>(items: readonly T[], at: number): T | undefined {
  return items.length === 0 ? undefined : items[at % items.length];
}
