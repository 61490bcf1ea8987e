import { isObject } from "../../protocol/index.ts";

/** A fault that occurs after some events of the next stream. */
export interface StreamFault {
  readonly name: "cutNext" | "killNext";
  readonly eventCount: number;
  /** Restarts the server. The requests of the client wait for it. */
  readonly restart?: (() => Promise<void>) | undefined;
}

/** The `fetch` of a conversation, which breaks event streams on demand. */
export class FaultyFetch {
  readonly #send: typeof fetch;
  #next: StreamFault | undefined;
  #restarted: Promise<void> = Promise.resolve();

  constructor(send: typeof fetch) {
    this.#send = send;
  }

  /** Lets the fault occur in the next stream. */
  inject(fault: StreamFault): void {
    if (!Number.isSafeInteger(fault.eventCount) || fault.eventCount < 0)
      throw new RangeError(`${fault.name}(${fault.eventCount}): pass a number of events.`);
    this.#next = fault;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    await this.#restarted;
    const response = await this.#send(input, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!this.#next || !response.body || !isStream) return response;
    const { status, headers } = response;
    return new Response(ReadableStream.from(this.#breakStream(response.body, this.#next)), {
      status,
      headers,
    });
  };

  /** Throws if a fault has not occurred, because a test would otherwise pass without it. */
  assertOccurred(): void {
    const fault = this.#next;
    this.#next = undefined;
    if (fault)
      throw new Error(
        `${fault.name}(${fault.eventCount}): the stream of the message ended before the fault.`,
      );
  }

  async *#breakStream(body: ReadableStream<Uint8Array>, fault: StreamFault): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    let count = 0;
    for await (const frame of readFrames(body)) {
      if (count === fault.eventCount) break;
      yield encoder.encode(frame);
      // Heartbeats are comments.
      if (/^data:/m.test(frame)) count++;
      if (count === fault.eventCount) break;
    }
    if (count < fault.eventCount) return;
    this.#next = undefined;
    if (fault.restart) this.#restarted = fault.restart();
    throw new TypeError(`${fault.name}(${fault.eventCount}): the connection is cut.`);
  }
}

/** Yields the events of a stream as text, each with the empty line after it. */
async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let open = "";
  for await (const bytes of body) {
    open += decoder.decode(bytes, { stream: true });
    const frames = open.split(/(?<=\n\n|\r\n\r\n)/);
    open = /\n\r?\n$/.test(open) ? "" : (frames.pop() ?? "");
    yield* frames;
  }
  if (open !== "") yield open;
}

/** The functions with which frameworks call a tool: ADK, the AI SDK and Mastra, OpenAI Agents and LangChain. */
const TOOL_METHODS = ["runAsync", "execute", "invoke"] as const;

/**
 * Delays the results of a tool by `delayMs` milliseconds. `tools` is the list or the object in which the agent's
 * framework keeps its tools. Dispose of the result to end the delay.
 *
 * ```ts
 * using slow = slowTool(weatherAgent.tools, "get_weather", 2_000);
 * ```
 */
export function slowTool(tools: object, name: string, delayMs: number): Disposable {
  const tool: unknown = Array.isArray(tools)
    ? (tools as unknown[]).find((one) => isObject(one) && one["name"] === name)
    : (tools as Record<string, unknown>)[name];
  const method = isObject(tool) ? TOOL_METHODS.find((one) => typeof tool[one] === "function") : undefined;
  if (!isObject(tool) || method === undefined)
    throw new Error(`slowTool: these tools contain no tool ${JSON.stringify(name)} that can be called.`);
  const own = Object.getOwnPropertyDescriptor(tool, method);
  const call = tool[method] as unknown as (...args: unknown[]) => unknown;
  const delay = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, delayMs));
  const slowed = (...args: unknown[]): unknown => {
    const result = call.apply(tool, args);
    if (isAsyncIterable(result))
      return (async function* () {
        await delay();
        yield* result;
      })();
    return Promise.resolve(result).then((value) => delay().then(() => value));
  };
  Object.defineProperty(tool, method, { value: slowed, configurable: true, writable: true });
  return {
    [Symbol.dispose]: () => {
      if (own) Object.defineProperty(tool, method, own);
      else Reflect.deleteProperty(tool, method);
    },
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
