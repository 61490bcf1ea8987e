import {
  BaseAgent,
  type BaseAgentConfig,
  createEvent,
  type Event,
  InvocationContext,
  type NodeContext,
  PluginManager,
  type Session,
  StreamingMode,
} from "@google/adk";
import {
  cancelIgnoringErrors,
  type ConnectOptions,
  exchangeMessage,
  findCard,
  type A2AClient,
  type SendOptions,
} from "../../client/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { PeerAction } from "../metadata.ts";
import { findRunContext } from "../adk-run-context.ts";
import type { SessionEventOptions } from "../session-event.ts";
import type { AdkEvent } from "../types.ts";
import { StreamAggregator } from "./stream-aggregator.ts";
import type { RemoteAgentProxy } from "./cancel-pending-remote-tasks.ts";
import { ConnectionCache } from "./connection-cache.ts";
import { toAdkDescription, toAdkName } from "./card-identity.ts";
import { isRunningAsTool, mergeTurnEnd } from "./turn-end.ts";
import { type OutgoingMessage, type OutgoingMessageOptions, toOutgoingMessages } from "./outgoing-message.ts";
import {
  listKnownArtifactIds,
  LOCAL_TASK_ID_KEY,
  isAnswerFrom,
  setCustomMetadata,
  TASK_STATE_KEY,
  TASK_ID_KEY,
  getCustomMetadataText,
} from "./custom-metadata.ts";
import { assertSameHost } from "./same-host.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { untilAborted } from "./until-aborted.ts";

/** What is sent to the peer; `metadata` are those of the request. */
export interface RemoteRequest
  extends OutgoingMessage, Pick<SendOptions, "messageId" | "configuration" | "metadata"> {}

/** Where an agent is: the URL of its host, its card or itself; or a connection to it. */
type AgentLocation = string | A2AClient;

export interface RemoteAgentOptions extends BaseAgentConfig {
  /** Where it is, or what finds it for an invocation. Its `name` here need not be the name in its card. */
  agent: AgentLocation | ((context: InvocationContext) => AgentLocation | Promise<AgentLocation>);
  /** How to connect when `agent` is a URL. The extension of ADK's bridges is asked for in any case. */
  connect?: ConnectOptions;
  /** For each request of an invocation, for example with the token of its user. Only for the host of the card. */
  headers?: (context: InvocationContext) => Record<string, string> | Promise<Record<string, string>>;
  /** How long a card is believed, in milliseconds. Default five minutes. */
  cardMaxAgeMs?: number;
  /** How long the peer may be silent while it is at work, in milliseconds. Default ten minutes. */
  idleTimeoutMs?: number;
  /** What the peer may have the agents here do. Default: escalate, which ends a loop. */
  allowedActions?: readonly PeerAction[];
  /** What becomes of a part that the peer is told; undefined drops it. Default: `toA2aPart`. */
  toA2aPart?: OutgoingMessageOptions["toA2aPart"];
  /** What becomes of a part that the peer says; undefined drops it. Default: `toGenaiPart`. */
  toGenaiPart?: SessionEventOptions["toGenaiPart"];
  /** Before each request: may give another one, or an event that is said instead. */
  beforeRequest?: (
    request: RemoteRequest,
    context: InvocationContext,
  ) => RemoteRequest | Event | undefined | Promise<RemoteRequest | Event | undefined>;
  /** For each event: undefined leaves it, null drops it, another one takes its place. */
  onEvent?: (
    event: Event,
    context: InvocationContext,
  ) => Event | null | undefined | Promise<Event | null | undefined>;
}

/**
 * An agent somewhere else as an agent of ADK: a root, a sub-agent, a step of a workflow, or a tool (`AgentTool`). It
 * keeps one conversation with its peer for each session. Errors are events, never thrown. When its run is aborted, or
 * left before its end, it cancels the task of its peer.
 */
export class RemoteAgent extends BaseAgent<RemoteAgentOptions> implements RemoteAgentProxy {
  readonly #connectionCache: ConnectionCache;

  constructor(options: RemoteAgentOptions) {
    super(options);
    const { agent, connect = {}, cardMaxAgeMs = 300_000 } = options;
    this.#connectionCache = new ConnectionCache(connect, cardMaxAgeMs);
    if (typeof agent === "object") this.#applyCardDescription(agent);
  }

  /** An agent with the name and the description that its card gives it, unless the options give others. */
  static async connect(
    url: string,
    options: Partial<Omit<RemoteAgentOptions, "agent">> = {},
  ): Promise<RemoteAgent> {
    const { card } = await findCard(url, options.connect);
    const introduced = { name: toAdkName(card), description: toAdkDescription(card) };
    return new RemoteAgent({ ...introduced, ...options, agent: url });
  }

  protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { onEvent } = this.config;
    try {
      for await (const event of this.#sendNewMessages(context)) {
        const other = await onEvent?.(event, context);
        if (other !== null) yield other ?? event;
      }
    } catch (error) {
      if (!context.abortSignal?.aborted) yield this.#createEvent(toErrorEvent(error), context);
    }
  }

  /** As a node of a workflow: the text of what it says is what the next node is given, as with agents of ADK. */
  protected override async *runImpl(context: NodeContext, input: unknown): AsyncGenerator<Event, void, void> {
    for await (const event of super.runImpl(context, input)) {
      const parts = event.content?.parts?.filter(({ text, thought }) => text && !thought) ?? [];
      if (parts.length > 0 && !event.partial) event.output = parts.map(({ text }) => text).join("");
      yield event;
    }
  }

  // oxlint-disable-next-line require-yield
  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {
    throw new Error(`The remote agent ${this.name} has no live mode; run it with runAsync.`);
  }

  async *#sendNewMessages(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { beforeRequest, toA2aPart } = this.config;
    const about = { name: this.name, branch: context.branch, toA2aPart };
    for (const outgoing of toOutgoingMessages(context.session.events, about)) {
      const instead = await beforeRequest?.(outgoing, context);
      if (instead && isAdkEvent(instead)) {
        yield instead;
        continue;
      }
      let last: Event | undefined;
      for await (const event of this.#sendRequest(instead ?? outgoing, context)) yield (last = event);
      // Whoever is heard of in one task counts as having heard what was said before; so nothing may be left behind.
      if (last?.errorCode !== undefined && !isAnswerFrom(this.name, last)) return;
    }
  }

  async *#sendRequest(request: RemoteRequest, context: InvocationContext): AsyncGenerator<Event, void, void> {
    // A peer that would be told nothing is not asked; an event that says nothing shows that it was its turn.
    if (request.parts.length === 0) {
      yield this.#createEvent({}, context);
      return;
    }
    const answers = this.#streamEvents(request, context);
    const isStreaming = context.runConfig?.streamingMode === StreamingMode.SSE;
    for await (const event of isRunningAsTool(this.name, context) ? mergeTurnEnd(answers) : answers) {
      if (isStreaming || !event.partial) yield this.#createEvent(event, context);
    }
  }

  async *#streamEvents(
    { parts, ...place }: RemoteRequest,
    context: InvocationContext,
  ): AsyncGenerator<AdkEvent, void, void> {
    const { idleTimeoutMs = 600_000, allowedActions, toGenaiPart, headers } = this.config;
    const options: SessionEventOptions = {
      author: this.name,
      keepQuestionText: isRunningAsTool(this.name, context),
      ...(allowedActions && { allowedActions }),
      ...(toGenaiPart && { toGenaiPart }),
    };
    const aggregation = new StreamAggregator(
      options,
      listKnownArtifactIds(context.session.events, place.taskId),
    );
    const silence = new IdleTimeout(idleTimeoutMs);
    const signals = [silence.signal, context.abortSignal].filter((one) => one !== undefined);
    const signal = AbortSignal.any(signals);
    try {
      const remote = await untilAborted(this.#getClient(context), signal);
      const call = { ...place, signal, headers: await headers?.(context) };
      for await (const said of exchangeMessage(remote, parts, call)) {
        silence.reset();
        const events = aggregation.process(said);
        for (const event of events)
          if (getCustomMetadataText(TASK_STATE_KEY, event)) this.#linkCancellation(event, context);
        yield* events;
      }
      yield* aggregation.finish();
    } catch (error) {
      if (context.abortSignal?.aborted) return;
      yield* aggregation.finish();
      const cause = silence.signal.aborted ? createIdleTimeoutError(this.name, idleTimeoutMs) : error;
      // Once it was heard, the peer knows what it was told, and need not be told again; nor need a task that is no more.
      const refused = isTaskGone(cause) && place.taskId !== undefined && { [TASK_ID_KEY]: place.taskId };
      yield { ...toErrorEvent(cause), customMetadata: { ...refused, ...aggregation.taskMetadata } };
    } finally {
      silence.stop();
    }
  }

  /** The peer's task now waits on behalf of a task here, and is cancelled with it: now, or by `cancelPendingRemoteTasks` later. */
  #linkCancellation(event: AdkEvent, context: InvocationContext): void {
    const { run } = findRunContext(context) ?? {};
    const taskId = getCustomMetadataText(TASK_ID_KEY, event);
    if (!run || taskId === undefined) return;
    setCustomMetadata(event, LOCAL_TASK_ID_KEY, run.taskId);
    const cancelIt = (): void => void this.cancelRemoteTask(taskId, context.session).catch(() => {});
    if (run.signal.aborted) cancelIt();
    else run.signal.addEventListener("abort", cancelIt, { once: true });
  }

  /** Cancels what a session waits for, outside of any run. Rejects only when the peer cannot be found. */
  async cancelRemoteTask(taskId: string, session: Session): Promise<void> {
    const invocationId = "cancel";
    const pluginManager = new PluginManager();
    const context = new InvocationContext({ invocationId, session, agent: this, pluginManager });
    const remote = await this.#getClient(context);
    await cancelIgnoringErrors(remote, taskId, await this.config.headers?.(context));
  }

  async #getClient(context: InvocationContext): Promise<A2AClient> {
    const { agent, headers } = this.config;
    const where = typeof agent === "function" ? await agent(context) : agent;
    if (typeof where !== "string") return where;
    const remote = await this.#connectionCache.getClient(where);
    if (typeof agent === "string") this.#applyCardDescription(remote);
    if (headers) assertSameHost(remote);
    return remote;
  }

  /** The card has the word where the owner has said nothing. ADK reads it when it hands over to the agent. */
  #applyCardDescription({ card }: Pick<A2AClient, "card">): void {
    if (!this.config.description) Object.assign(this, { description: toAdkDescription(card) });
  }

  #createEvent({ actions, ...event }: AdkEvent, { invocationId, branch }: InvocationContext): Event {
    return createEvent({
      ...(event as Partial<Event>),
      author: this.name,
      invocationId,
      ...(branch !== undefined && { branch }),
      ...(actions && { actions }),
    });
  }
}

/** What a peer writes may be of any length. */
const MAX_ERROR_LENGTH = 2_000;

function toErrorEvent(error: unknown): AdkEvent {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const errorMessage = message.length > MAX_ERROR_LENGTH ? `${message.slice(0, MAX_ERROR_LENGTH)}…` : message;
  return { errorCode: `A2A_${A2AError.from(error).reason}`, errorMessage, turnComplete: true };
}

/** True when a task takes no answer, and never will. */
function isTaskGone(error: unknown): boolean {
  const { reason } = A2AError.from(error);
  return reason === "TASK_NOT_FOUND" || reason === "UNSUPPORTED_OPERATION";
}

function createIdleTimeoutError(name: string, timeoutMs: number): A2AError {
  const text = `The agent ${name} sent no event for ${timeoutMs} ms, so its task was canceled. Raise "idleTimeoutMs" to wait longer.`;
  return new A2AError("UNAVAILABLE", text);
}

function isAdkEvent(value: RemoteRequest | Event): value is Event {
  return "invocationId" in value;
}
