import {
  BaseAgent,
  createEvent,
  type Event,
  InvocationContext,
  type NodeContext,
  PluginManager,
  type Session,
  StreamingMode,
} from "@google/adk";
import {
  type A2AClient,
  cancelTaskIgnoringErrors,
  connect,
  type ConnectOptions,
  findCard,
  sendAndStreamUntilTurnEnd,
  untilAborted,
} from "../../../client/index.ts";
import { A2AError, type AgentCard, type StreamResponse } from "../../../protocol/index.ts";
import { ADK_EXTENSION_URI, pickStateValues, toStateMetadata } from "../adk-event-metadata.ts";
import { findRunContextByInvocation } from "../adk-run-context.ts";
import type { AdkEvent } from "../adk-structural-types.ts";
import { type PeerSavedFile, splitSavedFiles } from "../saved-file-artifacts.ts";
import type { SessionEventOptions } from "../to-session-event.ts";
import type { RemoteAgentProxy } from "./cancel-remote-tasks-of-canceled-task.ts";
import {
  ARTIFACT_IDS_METADATA_KEY,
  copyPeerMetadata,
  getCustomMetadataText,
  isPeerOutputEvent,
  listKnownArtifactIds,
  LOCAL_TASK_ID_METADATA_KEY,
  PEER_CONTEXT_ID_METADATA_KEY,
  PEER_TASK_ID_METADATA_KEY,
  PEER_TASK_STATE_METADATA_KEY,
  setCustomMetadata,
} from "./event-custom-metadata.ts";
import { sessionEventsToOutgoingMessages } from "./outgoing-message.ts";
import { PeerCredentials } from "./peer-credentials.ts";
import type { RemoteAgentOptions, RemoteRequest } from "./remote-agent-options.ts";
import { StreamAggregator } from "./stream-aggregator.ts";

/**
 * ADK agent that represents a remote A2A agent. You can use a `RemoteAgent` as a root agent, sub-agent,
 * workflow step, or tool (`AgentTool`).
 *
 * A `RemoteAgent` keeps one conversation with its peer for each session. A run of a `RemoteAgent` never
 * throws, because errors become events. If a run is aborted or its consumer stops early, `RemoteAgent`
 * cancels the peer's task.
 */
export class RemoteAgent extends BaseAgent<RemoteAgentOptions> implements RemoteAgentProxy {
  readonly #connectionCache: ConnectionCache;
  readonly #credentials: PeerCredentials | undefined;

  constructor(options: RemoteAgentOptions) {
    super(options);
    const { agent, connect = {}, cardMaxAgeMs = 300_000, auth } = options;
    this.#credentials = auth && new PeerCredentials(options.name, auth);
    this.#connectionCache = new ConnectionCache(connect, cardMaxAgeMs);
    if (typeof agent === "object") this.#applyCardDescription(agent);
  }

  /**
   * Returns a `RemoteAgent` with the name and the description from the agent card. Values in `options` take
   * precedence over the agent card.
   */
  static async connect(
    url: string,
    options: Partial<Omit<RemoteAgentOptions, "agent">> = {},
  ): Promise<RemoteAgent> {
    const { card } = await findCard(url, options.connect);
    const identity = { name: toAdkName(card), description: toAdkDescription(card) };
    return new RemoteAgent({ ...identity, ...options, agent: url });
  }

  protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { onEvent } = this.config;
    try {
      for await (const event of this.#sendNewMessages(context)) {
        const replacement = await onEvent?.(event, context);
        if (replacement !== null) yield replacement ? copyPeerMetadata(event, replacement) : event;
      }
    } catch (error) {
      if (!context.abortSignal?.aborted) yield this.#createEvent(toErrorEvent(error), context);
    }
  }

  /**
   * Runs the agent as a workflow node. As with other ADK agents, the text of the agent's events is the
   * input of the next node.
   */
  protected override async *runImpl(context: NodeContext, input: unknown): AsyncGenerator<Event, void, void> {
    for await (const event of super.runImpl(context, input)) {
      const parts = event.content?.parts?.filter(({ text, thought }) => text && !thought) ?? [];
      if (parts.length > 0 && !event.partial) event.output = parts.map(({ text }) => text).join("");
      yield event;
    }
  }

  // oxlint-disable-next-line require-yield
  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {
    throw new Error(`The remote agent ${this.name} does not support live mode. Run it with runAsync.`);
  }

  async *#sendNewMessages(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { beforeRequest, toA2aPart, sendState = [] } = this.config;
    const authorization = await this.#credentials?.authorize(context);
    if (authorization && "request" in authorization) {
      yield this.#createEvent(authorization.request, context);
      return;
    }
    const messageOptions = { name: this.name, branch: context.branch, toA2aPart };
    const metadata = toStateMetadata(pickStateValues(context.session.state, sendState));
    for (const message of sessionEventsToOutgoingMessages(context.session.events, messageOptions)) {
      const outgoing = Object.keys(metadata).length > 0 ? { ...message, metadata } : message;
      const replacement = await beforeRequest?.(outgoing, context);
      if (replacement && isAdkEvent(replacement)) {
        yield replacement;
        continue;
      }
      let last: Event | undefined;
      for await (const event of this.#sendRequest(replacement ?? outgoing, context)) yield (last = event);
      // Stops after a failed request. If a later request succeeded, the failed messages would count as
      // delivered and would never be sent again.
      if (last?.errorCode !== undefined && !isPeerOutputEvent(this.name, last)) return;
    }
  }

  async *#sendRequest(request: RemoteRequest, context: InvocationContext): AsyncGenerator<Event, void, void> {
    // No request is sent without parts. An empty event records the agent's turn.
    if (request.parts.length === 0) {
      yield this.#createEvent({}, context);
      return;
    }
    const events = this.#streamEvents(request, context);
    const isStreaming = context.runConfig?.streamingMode === StreamingMode.SSE;
    for await (const event of isRunningAsTool(this.name, context)
      ? mergeTurnEndIntoLastEvent(events)
      : events) {
      if (isStreaming || !event.partial) yield this.#createEvent(event, context);
    }
  }

  async *#streamEvents(
    { parts, ...request }: RemoteRequest,
    context: InvocationContext,
  ): AsyncGenerator<AdkEvent, void, void> {
    const { idleTimeoutMs = 600_000, allowedActions, receiveState, toGenaiPart } = this.config;
    const options: SessionEventOptions = {
      author: this.name,
      keepQuestionText: isRunningAsTool(this.name, context),
      ...(allowedActions && { allowedActions }),
      ...(receiveState && { stateKeys: receiveState }),
      ...(toGenaiPart && { toGenaiPart }),
    };
    const aggregator = new StreamAggregator(
      options,
      listKnownArtifactIds(context.session.events, request.taskId),
    );
    const savedFileIds = new Set(listKnownArtifactIds(context.session.events, request.taskId));
    const idleTimeout = new IdleTimeout(idleTimeoutMs);
    const { abortSignal } = context;
    const signal = AbortSignal.any([idleTimeout.signal, ...(abortSignal ? [abortSignal] : [])]);
    try {
      const client = await untilAborted(this.#getClient(context), signal);
      const sendOptions = { ...request, signal, headers: await this.#buildHeaders(context) };
      for await (const response of sendAndStreamUntilTurnEnd(client, parts, sendOptions)) {
        idleTimeout.reset();
        const { files, rest } = context.artifactService
          ? splitSavedFiles(response)
          : { files: [], rest: response };
        const events = rest ? aggregator.process(rest) : [];
        for (const file of files) {
          if (savedFileIds.has(file.artifactId)) continue;
          savedFileIds.add(file.artifactId);
          yield await savePeerFile(file, response, context);
        }
        for (const event of events)
          if (getCustomMetadataText(PEER_TASK_STATE_METADATA_KEY, event))
            this.#linkCancellation(event, context);
        yield* events;
      }
      yield* aggregator.finish();
    } catch (error) {
      if (abortSignal?.aborted) return;
      yield* aggregator.finish();
      if (A2AError.from(error).reason === "UNAUTHENTICATED") await this.#credentials?.forget(context);
      const cause = idleTimeout.signal.aborted ? createIdleTimeoutError(this.name, idleTimeoutMs) : error;
      // The task id marks the request as delivered, because the peer has answered or its task accepts no more
      // messages.
      const closedTask = isPeerTaskClosedError(cause) &&
        request.taskId !== undefined && { [PEER_TASK_ID_METADATA_KEY]: request.taskId };
      yield { ...toErrorEvent(cause), customMetadata: { ...closedTask, ...aggregator.peerTaskIdMetadata } };
    } finally {
      idleTimeout.stop();
    }
  }

  /**
   * Links the peer's waiting task to the local task. If the local task is canceled, the peer's task is
   * also canceled. If the local task is canceled while it waits, `cancelRemoteTasksOfCanceledTask` cancels the
   * peer's task.
   */
  #linkCancellation(event: AdkEvent, context: InvocationContext): void {
    const { run } = findRunContextByInvocation(context) ?? {};
    const taskId = getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, event);
    if (!run || taskId === undefined) return;
    setCustomMetadata(event, LOCAL_TASK_ID_METADATA_KEY, run.taskId);
    const cancelRemote = (): void => void this.cancelRemoteTask(taskId, context.session).catch(() => {});
    if (run.signal.aborted) cancelRemote();
    else run.signal.addEventListener("abort", cancelRemote, { once: true });
  }

  /** Cancels a remote task outside of an ADK run. Rejects only if the peer cannot be reached. */
  async cancelRemoteTask(taskId: string, session: Session): Promise<void> {
    const invocationId = "cancel";
    const pluginManager = new PluginManager();
    const context = new InvocationContext({ invocationId, session, agent: this, pluginManager });
    const client = await this.#getClient(context);
    await cancelTaskIgnoringErrors(client, taskId, await this.#buildHeaders(context));
  }

  async #buildHeaders(context: InvocationContext): Promise<Record<string, string> | undefined> {
    const { headers } = this.config;
    if (!headers && !this.#credentials) return undefined;
    return { ...(await this.#credentials?.findHeaders(context)), ...(await headers?.(context)) };
  }

  async #getClient(context: InvocationContext): Promise<A2AClient> {
    const { agent } = this.config;
    const location = typeof agent === "function" ? await agent(context) : agent;
    if (typeof location !== "string") return location;
    const client = await this.#connectionCache.getClient(location);
    if (typeof agent === "string") this.#applyCardDescription(client);
    return client;
  }

  /**
   * Copies the description from the agent card unless the options contain a description. ADK reads an agent's
   * description when other agents may transfer control to it.
   */
  #applyCardDescription({ card }: Pick<A2AClient, "card">): void {
    if (!this.config.description) Object.assign(this, { description: toAdkDescription(card) });
  }

  #createEvent({ actions, ...event }: AdkEvent, { invocationId, branch }: InvocationContext): Event {
    return createEvent({
      ...(event as object as Partial<Event>),
      author: this.name,
      invocationId,
      ...(branch !== undefined && { branch }),
      ...(actions && { actions }),
    });
  }
}

function isAdkEvent(value: RemoteRequest | Event): value is Event {
  return "invocationId" in value;
}

/**
 * Maximum length of a description from an agent card, in UTF-16 code units. The length is limited because
 * the peer writes its agent card, and the description becomes part of model instructions.
 */
const MAX_CARD_DESCRIPTION_LENGTH = 1_000;

/** Returns the description in an agent card as a single line of limited length. */
function toAdkDescription({ description }: Pick<AgentCard, "description">): string {
  const line = description.replaceAll(/\s+/g, " ").trim();
  // Does not split a surrogate pair.
  return line.slice(0, MAX_CARD_DESCRIPTION_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
}

/**
 * Converts the name in an agent card to a valid ADK agent name. In ADK, an agent name must be an identifier
 * other than `user`.
 */
function toAdkName({ name }: Pick<AgentCard, "name">): string {
  const identifier = name.trim().replaceAll(/[^\p{ID_Continue}$-]+/gu, "_");
  if (identifier === "user") return "user_";
  return /^[\p{ID_Start}$_]/u.test(identifier) ? identifier : `_${identifier}`;
}

/**
 * Timer that aborts its signal if `reset` is not called for `ms` milliseconds. Call `stop` to release the
 * timer.
 */
class IdleTimeout {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#controller.abort(), ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reset(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Returns true if an agent appears to run as an ADK tool. `AgentTool` runs the agent without streaming, as
 * an app with the agent's name. The result of the tool is the text of the last event.
 */
function isRunningAsTool(name: string, { session, runConfig }: InvocationContext): boolean {
  return session.appName === name && runConfig?.streamingMode !== StreamingMode.SSE;
}

/** Merges an event that only ends the turn into the previous event. */
async function* mergeTurnEndIntoLastEvent(
  events: AsyncIterable<AdkEvent>,
): AsyncGenerator<AdkEvent, void, undefined> {
  let last: AdkEvent | undefined;
  for await (const event of events) {
    if (event.partial) continue;
    if (last && isEmptyTurnEnd(event)) {
      const { customMetadata, actions } = last;
      last = { ...last, ...event, customMetadata: { ...customMetadata, ...event.customMetadata } };
      if (actions) last.actions = { ...actions, ...event.actions };
    } else {
      if (last) yield last;
      last = event;
    }
  }
  if (last) yield last;
}

function isEmptyTurnEnd({ turnComplete, content, errorCode, errorMessage }: AdkEvent): boolean {
  return turnComplete === true && !content && errorCode === undefined && errorMessage === undefined;
}

/** Maximum length of an error message. The limit is needed because peers can send messages of any length. */
const MAX_ERROR_LENGTH = 2_000;

/** Returns the session event for a failed request to the peer. */
function toErrorEvent(error: unknown): AdkEvent {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const errorMessage = message.length > MAX_ERROR_LENGTH ? `${message.slice(0, MAX_ERROR_LENGTH)}…` : message;
  return { errorCode: `A2A_${A2AError.from(error).reason}`, errorMessage, turnComplete: true };
}

/** Returns true if the error means that the peer's task no longer accepts answers. */
function isPeerTaskClosedError(error: unknown): boolean {
  const { reason } = A2AError.from(error);
  return reason === "TASK_NOT_FOUND" || reason === "UNSUPPORTED_OPERATION";
}

function createIdleTimeoutError(name: string, timeoutMs: number): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    `The agent ${name} sent no event for ${timeoutMs} ms, so its task was canceled. ` +
      `Raise "idleTimeoutMs" to wait longer.`,
  );
}

/** Saves a peer's file in the caller's artifact service, and returns the event with the file version. */
async function savePeerFile(
  { artifactId, filename, part }: PeerSavedFile,
  response: StreamResponse,
  { artifactService }: InvocationContext,
): Promise<AdkEvent> {
  const version = (await artifactService?.saveArtifact({ filename, artifact: part })) ?? 0;
  const event: AdkEvent = { actions: { artifactDelta: { [filename]: version } } };
  const ids = "artifactUpdate" in response ? response.artifactUpdate : undefined;
  const task = "task" in response ? response.task : undefined;
  setCustomMetadata(event, PEER_TASK_ID_METADATA_KEY, ids?.taskId ?? task?.id);
  setCustomMetadata(event, PEER_CONTEXT_ID_METADATA_KEY, ids?.contextId ?? task?.contextId);
  setCustomMetadata(event, ARTIFACT_IDS_METADATA_KEY, [artifactId]);
  return event;
}

/**
 * Maximum number of cached connections. When the cache exceeds the maximum number of connections, the cache
 * drops the oldest connection.
 */
const MAX_CACHED_CONNECTIONS = 100;

interface CachedConnection {
  readonly client: Promise<A2AClient>;
  readonly expiresAt: number;
}

/**
 * Caches client connections by URL until their agent cards expire. If an expired agent card cannot be fetched
 * again, the cache keeps the old connection.
 */
export class ConnectionCache {
  readonly #options: ConnectOptions;
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  readonly #connections = new Map<string, CachedConnection>();

  constructor(options: ConnectOptions, maxAgeMs: number, now: () => number = () => performance.now()) {
    this.#options = { ...options, extensions: [ADK_EXTENSION_URI, ...(options.extensions ?? [])] };
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  getClient(url: string): Promise<A2AClient> {
    const cached = this.#connections.get(url);
    if (cached && cached.expiresAt > this.#now()) return cached.client;
    const pending = connect(url, this.#options);
    const client = cached ? pending.catch(() => cached.client) : pending;
    const connection = { client, expiresAt: this.#now() + this.#maxAgeMs };
    this.#connections.set(url, connection);
    const [oldest = url] = this.#connections.keys();
    if (this.#connections.size > MAX_CACHED_CONNECTIONS) this.#connections.delete(oldest);
    // A failed connection is removed, so the next call tries again.
    client.catch(() => {
      if (this.#connections.get(url) === connection) this.#connections.delete(url);
    });
    return client;
  }
}
