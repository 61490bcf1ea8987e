import { defineOptionNames } from "../../base/usage-checks/index.ts";
import {
  type A2AClient,
  connect,
  type ConnectOptions,
  type MessageInput,
  sendAndStreamUntilTurnEnd,
} from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import { type AgentCard, getText, type JsonObject, type StreamResponse } from "../../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../server/index.ts";
import { MemoryStore, type ServerStore } from "../../stores/index.ts";
import { type ConversationTurn, TurnCollector } from "./conversation-turn.ts";
import { FaultyFetch, type StreamFault } from "./faults.ts";
import { importTurns, importTurnsUntil, type PrefixMessage, toPrefixTurn } from "./import-turns.ts";
import { renderTranscript } from "./render-transcript.ts";

/** Options of `converse`. */
export interface ConverseOptions {
  /** Options of `connect` for an agent behind a URL, for example `auth`. */
  readonly connect?: ConnectOptions;
  /** Options of `createServer` for an agent in the process, for example `maxTurnMs` or a durable `store`. */
  readonly server?: Omit<ServerOptions, "observer" | "store"> & {
    /** Default: a new `MemoryStore`. */
    readonly store?: ServerStore;
  };
  /**
   * Messages with which the conversation begins, without calling the agent. The last message is the agent's question,
   * which the first message of the test answers. Only for an agent in the process.
   */
  readonly prefix?: readonly PrefixMessage[];
}

/** Options of `fork`. */
export interface ForkOptions {
  /** Returns true for the last event that the copy contains. The events are those of the task's log. */
  readonly until?: (event: StreamResponse) => boolean;
}

/** The server of an agent in the process. */
interface AgentHost {
  server: Server;
  readonly agent: Agent;
  readonly store: ServerStore;
  readonly onTurn: (collector: TurnCollector) => void;
  /** Stops the server without a warning, and starts another one with the same store. */
  readonly restart: () => Promise<void>;
}

/** The default store, which outlives the server that `killNext` stops. */
class ConversationStore extends MemoryStore {
  readonly isDurable = true;
}

const assertKnownOptions = defineOptionNames<ConverseOptions>()("converse", "connect prefix server");
const assertKnownForkOptions = defineOptionNames<ForkOptions>()("fork", "until");

/** Returns the next message to an agent, or `undefined` to end the conversation. */
export type SimulatedUser = (
  turn: ConversationTurn,
  conversation: Conversation,
) => MessageInput | undefined | Promise<MessageInput | undefined>;

/**
 * Starts a conversation with an agent, or with the agent behind a URL. An agent in the process is served with a memory
 * store and without a socket, so that tests need no port. Its calls of models and tools are in the turns.
 *
 * ```ts
 * await using chat = await converse(refunds);
 * const turn = await chat.send("Refund 80 euros");
 * assert.equal(turn.state, "input-required");
 * assertCalls(turn, ["findOrder"]);
 * ```
 */
export async function converse(target: Agent | string, options: ConverseOptions = {}): Promise<Conversation> {
  assertKnownOptions(options);
  const { prefix } = options;
  if (typeof target === "string") {
    if (prefix)
      throw new Error("An agent behind a URL accepts no prefix; pass the agent itself to converse(…).");
    const { fetch: send = fetch, grpc } = options.connect ?? {};
    const faults = new FaultyFetch(send);
    // Without `grpc`, a client with a `fetch` of its caller does not choose gRPC.
    const binding = options.connect?.fetch ? {} : { grpc: grpc ?? {} };
    const client = await connect(target, { ...options.connect, ...binding, fetch: faults.fetch });
    return new Conversation(client, faults);
  }
  let current: TurnCollector | undefined;
  const store = options.server?.store ?? new ConversationStore();
  const serve = (): Server =>
    createServer(target, {
      ...options.server,
      store,
      observer: {
        onAgentCall: ({ call }) => current?.addCall(call),
        onError: ({ error }) => current?.addError(error),
      },
    });
  const host: AgentHost = {
    server: serve(),
    agent: target,
    store,
    onTurn: (collector) => (current = collector),
    restart: async () => {
      await host.server.close({ graceMs: 0 });
      host.server = serve();
    },
  };
  const faults = new FaultyFetch((input, init) => host.server.fetch(new Request(input, init)));
  try {
    const client = await connect("http://agent.example", { ...options.connect, fetch: faults.fetch });
    const turns = prefix ? await importTurns(host, client, [toPrefixTurn(prefix)], { messages: prefix }) : [];
    return new Conversation(client, faults, host, turns);
  } catch (error) {
    await host.server.close();
    throw error;
  }
}

/** A conversation with one agent in one context. */
export class Conversation {
  readonly #client: A2AClient;
  readonly #faults: FaultyFetch | undefined;
  readonly #host: AgentHost | undefined;
  readonly #turns: ConversationTurn[];
  #isWaiting = false;

  /** `turns` are turns of the past, which the agent knows. `faults` is the `fetch` of the client. */
  constructor(
    client: A2AClient,
    faults?: FaultyFetch,
    host?: AgentHost,
    turns: readonly ConversationTurn[] = [],
  ) {
    this.#client = client;
    this.#faults = faults;
    this.#host = host;
    this.#turns = [...turns];
  }

  get card(): AgentCard {
    return this.#client.card;
  }

  /** The turns so far, oldest first. */
  get turns(): readonly ConversationTurn[] {
    return this.#turns;
  }

  /**
   * Sends a message, and resolves when the turn ends. If the agent waits for its user, the message continues the task.
   * Otherwise, the message starts a new task in the same context. A failed task is no error, but `state` is `failed`.
   * `metadata` is the metadata of the request, for example the state of an ADK session.
   */
  async send(
    input: MessageInput,
    { signal, metadata }: { readonly signal?: AbortSignal; readonly metadata?: JsonObject } = {},
  ): Promise<ConversationTurn> {
    if (this.#isWaiting)
      throw new Error("The last message has no answer yet; await send(…) before the next one.");
    this.#isWaiting = true;
    try {
      const last = this.#turns.findLast(({ task }) => task)?.task;
      const isOpen = this.#turns.at(-1)?.question !== undefined;
      const collector = new TurnCollector(toText(input), isOpen ? last : undefined);
      this.#host?.onTurn(collector);
      const options = {
        contextId: last?.contextId,
        taskId: isOpen ? last?.id : undefined,
        ...(metadata && { metadata }),
        signal: signal ?? new AbortController().signal,
      };
      for await (const event of sendAndStreamUntilTurnEnd(this.#client, input, options))
        collector.addEvent(event);
      const turn = collector.finish(this.#host !== undefined);
      this.#turns.push(turn);
      this.#faults?.assertOccurred();
      return turn;
    } finally {
      this.#isWaiting = false;
    }
  }

  /**
   * Lets a simulated user answer until it returns `undefined`. Resolves with the last turn. Rejects after `maxTurns`
   * messages, because a model that plays the user may never stop.
   */
  async simulate(
    first: MessageInput,
    user: SimulatedUser,
    { maxTurns = 20 }: { readonly maxTurns?: number } = {},
  ): Promise<ConversationTurn> {
    let turn = await this.send(first);
    for (let count = 1; ; count++) {
      const next = await user(turn, this);
      if (next === undefined) return turn;
      if (count >= maxTurns)
        throw new Error(
          `The simulated user did not end the conversation after ${maxTurns} messages (maxTurns).`,
        );
      turn = await this.send(next);
    }
  }

  /**
   * Cuts the connection of the next message after `eventCount` events of its stream. The client resumes the stream.
   * `send` rejects if the stream ends before, or if the client uses gRPC.
   */
  cutNext(eventCount = 1): void {
    this.#injectFault({ name: "cutNext", eventCount });
  }

  /**
   * Stops the server of the next message without a warning after `eventCount` events of its stream, and starts another
   * server with the same store. `afterRestart` of the agent determines what happens to the turn. `send` rejects if the
   * stream ends before. Only for an agent in the process. Its running code stops when it observes its signal.
   */
  killNext(eventCount = 1): void {
    const host = this.#host;
    if (!host) throw new Error("The server of an agent behind a URL cannot be stopped; pass the agent.");
    if (host.store.isDurable !== true)
      throw new Error("The store of this server ends with the server; use another store, or the default.");
    this.#injectFault({ name: "killNext", eventCount, restart: host.restart });
  }

  #injectFault(fault: StreamFault): void {
    if (!this.#faults) throw new Error("The connection to this agent cannot be cut; pass the agent itself.");
    this.#faults.inject(fault);
  }

  /**
   * Copies the conversation, so that several continuations can be tested. The copy contains the first `turnCount` turns,
   * by default all, with new ids and the same owner. The copy of an ADK agent also has a copy of its session up to that
   * time. The copy uses the server of this conversation: await each message before the next one, and close the original
   * last. Only for an agent in the process without authentication.
   *
   * With `until`, the last of these turns ends at its first event for which `until` returns true. The task of the copy is
   * canceled at that event, so that the next message starts a new task.
   */
  async fork(turnCount: number = this.#turns.length, options: ForkOptions = {}): Promise<Conversation> {
    assertKnownForkOptions(options);
    if (!this.#host)
      throw new Error(
        "A conversation with an agent behind a URL cannot be forked; pass the agent to converse(…).",
      );
    const { until } = options;
    const kept = this.#turns.slice(0, turnCount);
    const turns = await (until
      ? importTurnsUntil(this.#host, this.#client, kept, until)
      : importTurns(this.#host, this.#client, kept));
    return new Conversation(this.#client, this.#faults, this.#host, turns);
  }

  /** The conversation as text without ids and times, for snapshots. */
  get transcript(): string {
    return renderTranscript(this.#turns);
  }

  /** Stops an agent in the process, also for the copies of this conversation. */
  async close(): Promise<void> {
    await this.#host?.server.close({ graceMs: 0 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function toText(input: MessageInput): string {
  if (typeof input === "string") return input;
  return getText("parts" in input ? input.parts : input);
}
