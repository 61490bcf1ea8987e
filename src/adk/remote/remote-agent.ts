import { BaseAgent, createEvent, type Event, type InvocationContext, StreamingMode } from "@google/adk";
import { connect, type ConnectOptions, type Remote } from "../../client/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { ADK_EXTENSION, type PeerAction } from "../metadata.ts";
import type { SessionEventOptions } from "../session-event.ts";
import type { AdkEvent } from "../types.ts";
import { askPeer, type RemoteRequest } from "./ask-peer.ts";
import { toOutgoing } from "./outgoing.ts";

export interface RemoteAgentOptions {
  /** Its name among the agents here, which need not be the name in its card. */
  name: string;
  /** For the agents that may transfer to it. */
  description?: string;
  /** Where it is (the URL of its host, its card or itself), a connection to it, or what makes one of them. */
  agent: string | Remote | ((context: InvocationContext) => string | Remote | Promise<string | Remote>);
  /** How to connect when `agent` is a URL. The extension of ADK's bridges is asked for in any case. */
  connect?: ConnectOptions;
  /** For each request of an invocation, for example with the token of its user. */
  headers?: (context: InvocationContext) => Record<string, string> | Promise<Record<string, string>>;
  /** How long a card is believed, in milliseconds. Default five minutes. */
  cardMaxAgeMs?: number;
  /** How long the peer may take for one request, in milliseconds. Default ten minutes. */
  timeoutMs?: number;
  /** What the peer may have the agents here do. Default: escalate, which ends a loop. */
  allow?: readonly PeerAction[];
  /** What becomes of a part that the peer says; undefined drops it. */
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
 * An agent somewhere else as an agent of ADK: a sub-agent, a step of a workflow, or a tool (`AgentTool`). It keeps one
 * conversation with its peer for each session. Errors are events, never thrown. When its run is aborted, or left before
 * its end, it cancels the task of its peer.
 */
export class RemoteAgent extends BaseAgent {
  readonly #options: RemoteAgentOptions;
  readonly #connections = new Map<string, { readonly remote: Promise<Remote>; readonly until: number }>();

  constructor(options: RemoteAgentOptions) {
    super({
      name: options.name,
      ...(options.description !== undefined && { description: options.description }),
    });
    this.#options = options;
  }

  protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { onEvent } = this.#options;
    try {
      for await (const event of this.#converse(context)) {
        const other = await onEvent?.(event, context);
        if (other !== null) yield other ?? event;
      }
    } catch (error) {
      if (!context.abortSignal?.aborted) yield this.#failed(error, context);
    }
  }

  // oxlint-disable-next-line require-yield
  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {
    throw new Error(`The remote agent ${this.name} has no live mode; run it with runAsync.`);
  }

  async *#converse(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { beforeRequest, timeoutMs = 600_000, allow, toGenaiPart, headers } = this.#options;
    let request: RemoteRequest = toOutgoing(context.session.events, this.name, context.branch);
    const instead = await beforeRequest?.(request, context);
    if (instead && isEvent(instead)) {
      yield instead;
      return;
    }
    if (instead) request = instead;
    // A peer that would be told nothing is not asked; an event that says nothing shows that it was its turn.
    if (request.parts.length === 0) {
      yield this.#event({}, context);
      return;
    }
    const remote = await this.#connect(context);
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = context.abortSignal ? AbortSignal.any([timeout, context.abortSignal]) : timeout;
    const call = { signal, headers: await headers?.(context) };
    const about = {
      author: this.name,
      branch: context.branch,
      invocationId: context.invocationId,
      ...(allow && { allow }),
      ...(toGenaiPart && { toGenaiPart }),
    };
    const isStreaming = context.runConfig?.streamingMode !== StreamingMode.NONE;
    try {
      for await (const event of askPeer(remote, request, call, about)) {
        if (isStreaming || !event.partial) yield this.#event(event, context);
      }
    } catch (error) {
      if (!timeout.aborted) throw error;
      throw new A2AError("UNAVAILABLE", `The agent ${this.name} has not answered within ${timeoutMs} ms.`);
    }
  }

  async #connect(context: InvocationContext): Promise<Remote> {
    const { agent, connect: options = {}, cardMaxAgeMs = 300_000 } = this.#options;
    const where = typeof agent === "function" ? await agent(context) : agent;
    if (typeof where !== "string") return where;
    const known = this.#connections.get(where);
    if (known && known.until > Date.now()) return known.remote;
    const remote = connect(where, {
      ...options,
      extensions: [ADK_EXTENSION, ...(options.extensions ?? [])],
    });
    this.#connections.set(where, { remote, until: Date.now() + cardMaxAgeMs });
    // What failed is tried again by the next who asks.
    remote.catch(() => this.#connections.delete(where));
    return remote;
  }

  #failed(error: unknown, context: InvocationContext): Event {
    const { reason, message } = A2AError.from(error);
    return this.#event({ errorCode: `A2A_${reason}`, errorMessage: message, turnComplete: true }, context);
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

function isEvent(value: RemoteRequest | Event): value is Event {
  return "invocationId" in value;
}
