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
  cancelQuietly,
  type ConnectOptions,
  exchange,
  findCard,
  type Remote,
  type SendOptions,
} from "../../client/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { PeerAction } from "../metadata.ts";
import { servingOf } from "../serving.ts";
import type { SessionEventOptions } from "../session-event.ts";
import type { AdkEvent } from "../types.ts";
import { Aggregation } from "./aggregation.ts";
import type { StandIn } from "./cancel-waiting.ts";
import { Connections } from "./connections.ts";
import { descriptionIn, nameIn } from "./introduction.ts";
import { isTool, withLastWord } from "./last-word.ts";
import { type Outgoing, type OutgoingOptions, toOutgoing } from "./outgoing.ts";
import {
  artifactsKnown,
  FOR_TASK,
  isAnswerOf,
  remember,
  STATE,
  TASK_ID,
  textUnder,
} from "./session-place.ts";
import { checkHost } from "./same-host.ts";
import { Silence } from "./silence.ts";
import { withSignal } from "./with-signal.ts";

/** What is sent to the peer; `metadata` are those of the request. */
export interface RemoteRequest
  extends Outgoing, Pick<SendOptions, "messageId" | "configuration" | "metadata"> {}

/** Where an agent is: the URL of its host, its card or itself; or a connection to it. */
type Place = string | Remote;

export interface RemoteAgentOptions extends BaseAgentConfig {
  /** Where it is, or what finds it for an invocation. Its `name` here need not be the name in its card. */
  agent: Place | ((context: InvocationContext) => Place | Promise<Place>);
  /** How to connect when `agent` is a URL. The extension of ADK's bridges is asked for in any case. */
  connect?: ConnectOptions;
  /** For each request of an invocation, for example with the token of its user. Only for the host of the card. */
  headers?: (context: InvocationContext) => Record<string, string> | Promise<Record<string, string>>;
  /** How long a card is believed, in milliseconds. Default five minutes. */
  cardMaxAgeMs?: number;
  /** How long the peer may be silent while it is at work, in milliseconds. Default ten minutes. */
  timeoutMs?: number;
  /** What the peer may have the agents here do. Default: escalate, which ends a loop. */
  allow?: readonly PeerAction[];
  /** What becomes of a part that the peer is told; undefined drops it. Default: `toA2aPart`. */
  toA2aPart?: OutgoingOptions["toA2aPart"];
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
export class RemoteAgent extends BaseAgent<RemoteAgentOptions> implements StandIn {
  readonly #connections: Connections;

  constructor(options: RemoteAgentOptions) {
    super(options);
    const { agent, connect = {}, cardMaxAgeMs = 300_000 } = options;
    this.#connections = new Connections(connect, cardMaxAgeMs);
    if (typeof agent === "object") this.#introduce(agent);
  }

  /** An agent with the name and the description that its card gives it, unless the options give others. */
  static async connect(
    url: string,
    options: Partial<Omit<RemoteAgentOptions, "agent">> = {},
  ): Promise<RemoteAgent> {
    const { card } = await findCard(url, options.connect);
    const introduced = { name: nameIn(card), description: descriptionIn(card) };
    return new RemoteAgent({ ...introduced, ...options, agent: url });
  }

  protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { onEvent } = this.config;
    try {
      for await (const event of this.#converse(context)) {
        const other = await onEvent?.(event, context);
        if (other !== null) yield other ?? event;
      }
    } catch (error) {
      if (!context.abortSignal?.aborted) yield this.#event(failure(error), context);
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

  async *#converse(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { beforeRequest, toA2aPart } = this.config;
    const about = { name: this.name, branch: context.branch, toA2aPart };
    for (const outgoing of toOutgoing(context.session.events, about)) {
      const instead = await beforeRequest?.(outgoing, context);
      if (instead && isEvent(instead)) {
        yield instead;
        continue;
      }
      let last: Event | undefined;
      for await (const event of this.#ask(instead ?? outgoing, context)) yield (last = event);
      // Whoever is heard of in one task counts as having heard what was said before; so nothing may be left behind.
      if (last?.errorCode !== undefined && !isAnswerOf(this.name, last)) return;
    }
  }

  async *#ask(request: RemoteRequest, context: InvocationContext): AsyncGenerator<Event, void, void> {
    // A peer that would be told nothing is not asked; an event that says nothing shows that it was its turn.
    if (request.parts.length === 0) {
      yield this.#event({}, context);
      return;
    }
    const answers = this.#answers(request, context);
    const isStreaming = context.runConfig?.streamingMode === StreamingMode.SSE;
    for await (const event of isTool(this.name, context) ? withLastWord(answers) : answers) {
      if (isStreaming || !event.partial) yield this.#event(event, context);
    }
  }

  async *#answers(
    { parts, ...place }: RemoteRequest,
    context: InvocationContext,
  ): AsyncGenerator<AdkEvent, void, void> {
    const { timeoutMs = 600_000, allow, toGenaiPart, headers } = this.config;
    const options = {
      author: this.name,
      keepQuestion: isTool(this.name, context),
      ...(allow && { allow }),
      ...(toGenaiPart && { toGenaiPart }),
    };
    const aggregation = new Aggregation(options, artifactsKnown(context.session.events, place.taskId));
    const silence = new Silence(timeoutMs);
    const signals = [silence.signal, context.abortSignal].filter((one) => one !== undefined);
    const signal = AbortSignal.any(signals);
    try {
      const remote = await withSignal(this.#connect(context), signal);
      const call = { ...place, signal, headers: await headers?.(context) };
      for await (const said of exchange(remote, parts, call)) {
        silence.broken();
        const events = aggregation.take(said);
        for (const event of events) if (textUnder(STATE, event)) this.#leaveWaiting(event, context);
        yield* events;
      }
      yield* aggregation.end();
    } catch (error) {
      if (context.abortSignal?.aborted) return;
      yield* aggregation.end();
      const cause = silence.signal.aborted ? tooLate(this.name, timeoutMs) : error;
      // Once it was heard, the peer knows what it was told, and need not be told again; nor need a task that is no more.
      const refused = isGone(cause) && place.taskId !== undefined && { [TASK_ID]: place.taskId };
      yield { ...failure(cause), customMetadata: { ...refused, ...aggregation.place } };
    } finally {
      silence.end();
    }
  }

  /** The peer's task now waits on behalf of a task here, and is cancelled with it: now, or by `cancelWaiting` later. */
  #leaveWaiting(event: AdkEvent, context: InvocationContext): void {
    const { run } = servingOf(context) ?? {};
    const taskId = textUnder(TASK_ID, event);
    if (!run || taskId === undefined) return;
    remember(event, FOR_TASK, run.taskId);
    const cancelIt = (): void => void this.cancelRemoteTask(taskId, context.session).catch(() => {});
    if (run.signal.aborted) cancelIt();
    else run.signal.addEventListener("abort", cancelIt, { once: true });
  }

  /** Cancels what a session waits for, outside of any run. Rejects only when the peer cannot be found. */
  async cancelRemoteTask(taskId: string, session: Session): Promise<void> {
    const invocationId = "cancel";
    const pluginManager = new PluginManager();
    const context = new InvocationContext({ invocationId, session, agent: this, pluginManager });
    const remote = await this.#connect(context);
    await cancelQuietly(remote, taskId, await this.config.headers?.(context));
  }

  async #connect(context: InvocationContext): Promise<Remote> {
    const { agent, headers } = this.config;
    const where = typeof agent === "function" ? await agent(context) : agent;
    if (typeof where !== "string") return where;
    const remote = await this.#connections.to(where);
    if (typeof agent === "string") this.#introduce(remote);
    if (headers) checkHost(remote);
    return remote;
  }

  /** The card has the word where the owner has said nothing. ADK reads it when it hands over to the agent. */
  #introduce({ card }: Pick<Remote, "card">): void {
    if (!this.config.description) Object.assign(this, { description: descriptionIn(card) });
  }

  #event({ actions, ...event }: AdkEvent, { invocationId, branch }: InvocationContext): Event {
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
const LONGEST_ERROR = 2_000;

function failure(error: unknown): AdkEvent {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const errorMessage = message.length > LONGEST_ERROR ? `${message.slice(0, LONGEST_ERROR)}…` : message;
  return { errorCode: `A2A_${A2AError.from(error).reason}`, errorMessage, turnComplete: true };
}

/** True when a task takes no answer, and never will. */
function isGone(error: unknown): boolean {
  const { reason } = A2AError.from(error);
  return reason === "TASK_NOT_FOUND" || reason === "UNSUPPORTED_OPERATION";
}

function tooLate(name: string, timeoutMs: number): A2AError {
  const text = `The agent ${name} has said nothing for ${timeoutMs} ms, and its task was cancelled; raise timeoutMs if it may be silent for longer.`;
  return new A2AError("UNAVAILABLE", text);
}

function isEvent(value: RemoteRequest | Event): value is Event {
  return "invocationId" in value;
}
