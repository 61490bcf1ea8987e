import { defineOptionNames } from "../../base/usage-checks/index.ts";
import {
  type A2AClient,
  connect,
  type ConnectOptions,
  type MessageInput,
  sendAndStreamUntilTurnEnd,
} from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import { type AgentCard, getText, type JsonObject } from "../../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../server/index.ts";
import { type ConversationTurn, TurnCollector } from "./conversation-turn.ts";
import { renderTranscript } from "./render-transcript.ts";

/** Options of `converse`. */
export interface ConverseOptions {
  /** Options of `connect` for an agent behind a URL, for example `auth`. */
  readonly connect?: ConnectOptions;
  /** Options of `createServer` for an agent in the process, for example `maxTurnMs` or a durable `store`. */
  readonly server?: Omit<ServerOptions, "observer">;
}

const assertKnownOptions = defineOptionNames<ConverseOptions>()("converse", "connect server");

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
  if (typeof target === "string") return new Conversation(await connect(target, options.connect));
  let current: TurnCollector | undefined;
  const server = createServer(target, {
    store: "memory",
    ...options.server,
    observer: {
      onAgentCall: ({ call }) => current?.addCall(call),
      onError: ({ error }) => current?.addError(error),
    },
  });
  const fetch: ConnectOptions["fetch"] = (input, init) => server.fetch(new Request(input, init));
  try {
    const client = await connect("http://agent.example", { ...options.connect, fetch });
    return new Conversation(client, server, (collector) => (current = collector));
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** A conversation with one agent in one context. */
export class Conversation {
  readonly #client: A2AClient;
  readonly #server: Server | undefined;
  readonly #onTurn: (collector: TurnCollector) => void;
  readonly #turns: ConversationTurn[] = [];
  #isWaiting = false;

  constructor(client: A2AClient, server?: Server, onTurn: (collector: TurnCollector) => void = () => {}) {
    this.#client = client;
    this.#server = server;
    this.#onTurn = onTurn;
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
      this.#onTurn(collector);
      const options = {
        contextId: last?.contextId,
        taskId: isOpen ? last?.id : undefined,
        ...(metadata && { metadata }),
        signal: signal ?? new AbortController().signal,
      };
      for await (const event of sendAndStreamUntilTurnEnd(this.#client, input, options))
        collector.addEvent(event);
      const turn = collector.finish(this.#server !== undefined);
      this.#turns.push(turn);
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

  /** The conversation as text without ids and times, for snapshots. */
  get transcript(): string {
    return renderTranscript(this.#turns);
  }

  /** Stops an agent in the process. */
  async close(): Promise<void> {
    await this.#server?.close({ graceMs: 0 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function toText(input: MessageInput): string {
  if (typeof input === "string") return input;
  return getText("parts" in input ? input.parts : input);
}
