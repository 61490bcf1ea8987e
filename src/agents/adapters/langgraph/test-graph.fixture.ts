import type { CompiledLangGraph } from "./from-langgraph.ts";

/** A message of LangChain, with the members that the adapter reads. */
export interface TestGraphMessage {
  readonly type?: "ai" | "tool";
  readonly role?: "user";
  readonly id?: string;
  readonly content: unknown;
  readonly [member: string]: unknown;
}

export type TestGraphState = Record<string, unknown>;

export interface TestNodeConfig {
  readonly configurable: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Sends a custom event. */
  readonly writer: (value: unknown) => void;
  /** Sends a chunk of a model's message. */
  readonly sendChunk: (message: TestGraphMessage) => void;
  /** Returns the user's answer. Without an answer, the graph stops. */
  readonly interrupt: (value: unknown) => unknown;
}

/** Returns changes of the state. New `messages` are appended. */
export type TestNode = (state: TestGraphState, config: TestNodeConfig) => Promise<TestGraphState>;

interface Checkpoint {
  readonly state: TestGraphState;
  /** Number of completed nodes. */
  readonly completed: number;
  readonly interrupts: readonly { readonly id: string; readonly value: unknown }[];
}

interface StreamOptions {
  readonly configurable: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly streamMode: readonly string[];
}

/** Keeps the checkpoints of threads, like `MemorySaver` of LangGraph. */
export class TestCheckpointer {
  readonly #threads = new Map<unknown, Checkpoint & { readonly metadata: object }>();

  find(thread: unknown): (Checkpoint & { readonly metadata: object }) | undefined {
    return this.#threads.get(thread);
  }

  /** The adapter replaces this method to add its own metadata. */
  put(
    { configurable = {} }: { configurable?: Record<string, unknown> },
    checkpoint: unknown,
    metadata: object,
  ): void {
    this.#threads.set(configurable["thread_id"], { ...(checkpoint as Checkpoint), metadata });
  }
}

class Interrupted extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super("interrupted");
    this.value = value;
  }
}

/** What the mocked class `Command` of LangGraph contains. */
export interface TestCommand {
  readonly resume: unknown;
}

/**
 * Creates a graph that runs its nodes in order, with the interface and the events of a compiled graph of LangGraph. The
 * lab `peers` tests the adapter with the real package.
 */
export function createTestGraph(
  nodes: Readonly<Record<string, TestNode>>,
  checkpointer?: TestCheckpointer,
): CompiledLangGraph<TestGraphState> {
  async function run(input: unknown, options: StreamOptions, send: (event: unknown) => void): Promise<void> {
    const { configurable, signal, streamMode } = options;
    const saved = checkpointer?.find(configurable["thread_id"]);
    const isCommand = typeof input === "object" && input !== null && "resume" in input;
    const continues = input === null || isCommand;
    let state = continues ? (saved?.state ?? {}) : mergeState(saved?.state ?? {}, input as TestGraphState);
    const first = continues ? (saved?.completed ?? 0) : 0;
    const answers = isCommand ? [(input as TestCommand).resume] : [];
    const save = (completed: number, interrupts: Checkpoint["interrupts"] = []): void =>
      checkpointer?.put({ configurable }, { state, completed, interrupts }, {});
    save(first);
    for (const [position, [name, node]] of Object.entries(nodes).entries()) {
      if (position < first) continue;
      const sent = new Set<unknown>();
      const sendMessage = (message: TestGraphMessage): void => {
        sent.add(message.id);
        send(["messages", [message, { langgraph_node: name }]]);
      };
      const config: TestNodeConfig = {
        configurable,
        signal,
        writer: (value) => send(["custom", value]),
        sendChunk: sendMessage,
        interrupt: (value) => {
          if (answers.length === 0) throw new Interrupted(value);
          return answers.shift();
        },
      };
      let update: TestGraphState;
      try {
        update = await node(state, config);
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        const questions = Array.isArray(error.value) ? (error.value as unknown[]) : [error.value];
        const interrupts = questions.map((value, index) => ({ id: `question-${index}`, value }));
        save(position, interrupts);
        send(["updates", { __interrupt__: interrupts }]);
        return;
      }
      for (const message of (update["messages"] ?? []) as TestGraphMessage[])
        if (message.id === undefined || !sent.has(message.id)) sendMessage(message);
      send(["updates", { [name]: update }]);
      state = mergeState(state, update);
      if (streamMode.includes("values")) send(["values", state]);
      save(position + 1);
    }
  }
  return {
    checkpointer,
    invoke: () => Promise.reject(new Error("The adapter streams.")),
    stream: (input, options) =>
      Promise.resolve(
        new ReadableStream<unknown>({
          start: (controller) =>
            void run(input, options as unknown as StreamOptions, (event) => controller.enqueue(event)).then(
              () => controller.close(),
              (error: unknown) => controller.error(error),
            ),
        }),
      ),
    getState: ({ configurable }) => {
      const saved = checkpointer?.find(configurable.thread_id);
      const tasks = saved && saved.interrupts.length > 0 ? [{ interrupts: saved.interrupts }] : [];
      return Promise.resolve({ tasks, metadata: saved?.metadata });
    },
  };
}

function mergeState(state: TestGraphState, update: TestGraphState): TestGraphState {
  const messages = [state, update].flatMap((one) => (one["messages"] ?? []) as TestGraphMessage[]);
  return { ...state, ...update, ...(messages.length > 0 ? { messages } : {}) };
}
