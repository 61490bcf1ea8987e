import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../protocol/index.ts";
import { createRedactor, type Redactor } from "../../logging/index.ts";
import { encodeTrafficLine, type RawTrafficMembers } from "../traffic-line-codec.ts";
import type { TrafficLine, TrafficLineBase, TrafficLineInput, WriterLine } from "../traffic-line-types.ts";
import { TRUNCATED_BODY_KEY } from "../truncated-body.ts";
import type { TrafficSink } from "./traffic-sink.ts";

/** Options of `createTrafficWriter`. */
export interface TrafficWriterOptions {
  readonly vantage: WriterLine["vantage"];
  /** Name of the writer for people, such as the name of the server. */
  readonly name: string;
  /** Version of Colloquy that writes the lines. Default: an empty string. */
  readonly code?: string;
  /**
   * Whether the lines contain the bodies of requests, responses, frames, events, model calls, and tool calls. Without
   * bodies, the lines contain ids, states, and times. Default: true.
   */
  readonly bodies?: boolean;
  /**
   * Whether clients and servers record each frame of a stream. Without frames, the response line of a client contains
   * the task at the end of the stream, and the lines of a client contain no headers. Default: true.
   */
  readonly frames?: boolean;
  /** Maximum length of one body in characters. A longer body is replaced by its beginning. Default: 65,536. */
  readonly maxBodyLength?: number;
  /** Maximum length of the lines that wait for the sink, in characters. Default: 8,388,608. */
  readonly maxQueuedLength?: number;
  /**
   * Replaces secrets in the JSON text of a line. By default, the writer redacts the API keys that the security schemes
   * of recorded agents declare, and common forms of secrets.
   */
  readonly redact?: (jsonText: string) => string;
  /** Known secrets that no line may contain, in any encoding. Default: the values of variables such as `OPENAI_API_KEY`. */
  readonly secrets?: readonly string[];
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns the time of a monotonic clock in milliseconds. Default: `performance.now`. */
  readonly monotonicNow?: () => number;
  /** Called with the cause when the first line is lost. */
  readonly onLoss?: (cause: unknown) => void;
}

/**
 * Writes traffic lines to a sink. A writer never throws and never waits, so that a record cannot make a task fail. If
 * the sink is slower than the traffic, the writer drops lines, and writes a `loss` line.
 */
export interface TrafficWriter {
  /** Id of the writer, which all its lines contain. */
  readonly id: string;
  readonly vantage: WriterLine["vantage"];
  /** Whether the lines contain bodies. */
  readonly bodies: boolean;
  /** Whether clients and servers record each frame of a stream. */
  readonly frames: boolean;
  /** The writer line as JSON text with a newline. */
  readonly header: string;
  /**
   * Writes a line. `rawMembers` contains members that are already JSON text, such as `event`, to avoid encoding them
   * twice. `ageMs` is the time since the line happened, and 0 by default. Returns false if the line is lost. A sink without
   * `isSynchronous` can still lose the line later.
   */
  write(line: TrafficLineInput, rawMembers?: RawTrafficMembers, ageMs?: number): boolean;
  /** Returns an id for the next call, unique within the writer. */
  createCallId(): string;
  /**
   * Calls `listener` with the JSON text of each later line, without a newline. Secrets are already replaced. Returns a
   * function that removes the listener.
   */
  subscribe(listener: (lineText: string) => void): () => void;
  /** Resolves when the sink has all lines that were written before. */
  flush(): Promise<void>;
  /** Writes the remaining lines and closes the sink. Later lines are dropped. */
  close(): Promise<void>;
}

/** Members that contain content, which the writer limits, removes, or redacts. */
const BODY_MEMBERS: ReadonlySet<string> = new Set([
  "body",
  "event",
  "text",
  "prompt",
  "reply",
  "arguments",
  "result",
]);
/** Bodies whose structure remains if their content is not recorded. */
const STRUCTURED_MEMBERS: ReadonlySet<string> = new Set(["event"]);

const assertKnownOptions = defineOptionNames<TrafficWriterOptions>()(
  "createTrafficWriter",
  "bodies code frames maxBodyLength maxQueuedLength monotonicNow name now onLoss redact secrets vantage",
);

/** Creates a writer that appends to a sink, for example to the sink of `openTrafficFileSink`. */
export function createTrafficWriter(sink: TrafficSink, options: TrafficWriterOptions): TrafficWriter {
  assertKnownOptions(options);
  return new QueuedTrafficWriter(sink, options);
}

/** The writer that `createTrafficWriter` creates. */
export class QueuedTrafficWriter implements TrafficWriter {
  readonly id: string = globalThis.crypto.randomUUID().slice(0, 13);
  readonly vantage: WriterLine["vantage"];
  readonly bodies: boolean;
  readonly frames: boolean;
  readonly header: string;
  readonly #sink: TrafficSink;
  readonly #options: TrafficWriterOptions;
  readonly #now: () => number;
  readonly #monotonicNow: () => number;
  readonly #redactor: Redactor;
  readonly #redact: (jsonText: string) => string;
  readonly #maxBodyLength: number;
  readonly #maxQueuedLength: number;
  readonly #listeners = new Set<(lineText: string) => void>();
  #seq = 0;
  #lastCallNumber = 0;
  #lastTime = { ms: Number.NaN, text: "" };
  #queue: string[] = [];
  #queuedLength = 0;
  #lost = { lines: 0, reason: "" };
  #hasReportedLoss = false;
  #isClosed = false;
  #writing: Promise<void> | undefined;

  constructor(sink: TrafficSink, options: TrafficWriterOptions) {
    const { vantage, name, code = "", bodies = true, frames = true } = options;
    this.#sink = sink;
    this.#options = options;
    this.vantage = vantage;
    this.bodies = bodies;
    this.frames = frames;
    this.#now = options.now ?? Date.now;
    this.#monotonicNow = options.monotonicNow ?? (() => performance.now());
    this.#redactor = createRedactor(options.secrets ? { secrets: options.secrets } : {});
    this.#redact = options.redact ?? ((jsonText) => this.#redactor.redactJson(jsonText));
    this.#maxBodyLength = options.maxBodyLength ?? 65_536;
    this.#maxQueuedLength = options.maxQueuedLength ?? 8 * 2 ** 20;
    const line: WriterLine = { ...this.#stamp("writer"), vantage, name, code, bodies };
    this.header = `${this.#redact(encodeTrafficLine(line))}\n`;
  }

  write(line: TrafficLineInput, rawMembers?: RawTrafficMembers, ageMs = 0): boolean {
    if (this.#isClosed) return false;
    try {
      return this.#writeLine(line, rawMembers, ageMs);
    } catch (cause) {
      this.#countLoss("a line could not be encoded", cause);
      return false;
    }
  }

  createCallId(): string {
    this.#lastCallNumber += 1;
    return `c${this.#lastCallNumber}`;
  }

  subscribe(listener: (lineText: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.flush();
    if (this.#lost.lines > 0) await this.#writeQueue();
    try {
      await this.#sink.close();
    } catch (cause) {
      this.#reportLoss(cause);
    }
  }

  /** Returns the first members of a line. The kind comes before the other members, so that files are easy to read. */
  #stamp<Kind extends TrafficLine["kind"]>(
    kind: Kind,
    ageMs = 0,
  ): Omit<TrafficLineBase, "traceparent"> & { kind: Kind } {
    this.#seq += 1;
    return {
      v: 1,
      kind,
      writer: this.id,
      seq: this.#seq,
      at: this.#formatTime(this.#now() - ageMs),
      // Microseconds, because finer digits are noise.
      mono_ms: Math.round((this.#monotonicNow() - ageMs) * 1_000) / 1_000,
    };
  }

  /** Formats a time. Many lines have the same time, because they are written in one turn of the event loop. */
  #formatTime(ms: number): string {
    if (ms !== this.#lastTime.ms) this.#lastTime = { ms, text: new Date(ms).toISOString() };
    return this.#lastTime.text;
  }

  #writeLine(line: TrafficLineInput, rawMembers: RawTrafficMembers | undefined, ageMs: number): boolean {
    if (line.kind === "agent") this.#redactor.addSecuritySchemes(line.card["securitySchemes"]);
    const text = this.#encodePlainLine(line, rawMembers, ageMs) ?? this.#encodeLine(line, rawMembers, ageMs);
    return this.#enqueue(this.#redact(text));
  }

  /**
   * Encodes a line whose members need no treatment by their names. Events and frames, which are most lines of a record,
   * have their content in `rawMembers`. Takes about half of the time of `#encodeLine`. Returns `undefined` for other
   * lines.
   */
  #encodePlainLine(
    line: TrafficLineInput,
    rawMembers: RawTrafficMembers | undefined,
    ageMs: number,
  ): string | undefined {
    for (const name in line) if (name === "headers" || BODY_MEMBERS.has(name)) return undefined;
    for (const name in rawMembers)
      if ((rawMembers[name] as string).length > this.#maxBodyLength) return undefined;
    const members = JSON.stringify(line);
    const kind = `{"kind":"${line.kind}"`;
    if (!members.startsWith(kind)) return undefined;
    const { v, writer, seq, at, mono_ms } = this.#stamp(line.kind, ageMs);
    // The values need no escapes.
    let text = `{"v":${v},"kind":"${line.kind}","writer":"${writer}","seq":${seq},"at":"${at}","mono_ms":${mono_ms}`;
    text += members.slice(kind.length, -1);
    for (const name in rawMembers) {
      const body = rawMembers[name] as string;
      if (this.bodies) text += `,"${name}":${body}`;
      else if (STRUCTURED_MEMBERS.has(name)) text += `,"${name}":${encodeBodyStructure(body)}`;
    }
    return `${text}}`;
  }

  #encodeLine(line: TrafficLineInput, rawMembers: RawTrafficMembers | undefined, ageMs: number): string {
    const stamped: Record<string, unknown> = this.#stamp(line.kind, ageMs);
    const bodies: Record<string, string> = {};
    for (const [name, value] of Object.entries(line)) {
      if (value === undefined) continue;
      if (name === "headers") stamped[name] = this.#redactor.redactHeaders(value as Record<string, string>);
      else if (!BODY_MEMBERS.has(name)) stamped[name] = value;
      else if (this.bodies) bodies[name] = JSON.stringify(value);
      else if (STRUCTURED_MEMBERS.has(name)) stamped[name] = removeBodyContent(value as JsonValue);
    }
    for (const name in rawMembers) {
      const text = rawMembers[name] as string;
      if (this.bodies) bodies[name] = text;
      else if (STRUCTURED_MEMBERS.has(name)) stamped[name] = removeBodyContent(JSON.parse(text) as JsonValue);
    }
    for (const name in bodies) {
      const text = bodies[name] as string;
      if (text.length > this.#maxBodyLength)
        bodies[name] = encodeTruncatedBody(text, STRUCTURED_MEMBERS.has(name), this.#redactor);
    }
    return encodeTrafficLine(stamped as unknown as TrafficLine, bodies);
  }

  #enqueue(text: string): boolean {
    for (const listener of this.#listeners) {
      try {
        listener(text);
      } catch {
        // A listener must not affect the traffic.
      }
    }
    if (this.#sink.isSynchronous) return this.#writeNow(text);
    if (this.#queuedLength + text.length > this.#maxQueuedLength) {
      this.#countLoss("the sink is slower than the traffic");
      return false;
    }
    this.#queue.push(text);
    this.#queuedLength += text.length + 1;
    this.#writing ??= this.#writeQueue();
    return true;
  }

  /** Writes a line at once, so that the caller knows whether the sink has the line. */
  #writeNow(text: string): boolean {
    const { lines, reason } = this.#lost;
    const loss = lines > 0 ? `${encodeTrafficLine({ ...this.#stamp("loss"), lines, reason })}\n` : "";
    try {
      void this.#sink.write(`${loss}${text}\n`, this.header);
    } catch (cause) {
      this.#countLoss("the sink could not store lines", cause);
      return false;
    }
    this.#lost = { lines: 0, reason: "" };
    return true;
  }

  async #writeQueue(): Promise<void> {
    // The lines of one turn of the event loop are written together.
    await Promise.resolve();
    do {
      const batch = this.#queue;
      const batchLength = this.#queuedLength;
      this.#queue = [];
      const { lines, reason } = this.#lost;
      this.#lost = { lines: 0, reason: "" };
      try {
        if (lines > 0) batch.push(encodeTrafficLine({ ...this.#stamp("loss"), lines, reason }));
        await this.#sink.write(`${batch.join("\n")}\n`, this.header);
      } catch (cause) {
        this.#countLoss("the sink could not store lines", cause, batch.length + lines);
      }
      this.#queuedLength -= batchLength;
    } while (this.#queue.length > 0);
    // No line can enter the queue between the check and this statement.
    this.#writing = undefined;
  }

  #countLoss(reason: string, cause: unknown = reason, lines = 1): void {
    this.#lost = { lines: this.#lost.lines + lines, reason };
    this.#reportLoss(cause);
  }

  #reportLoss(cause: unknown): void {
    if (this.#hasReportedLoss) return;
    this.#hasReportedLoss = true;
    try {
      this.#options.onLoss?.(cause);
    } catch {
      // An error of the callback must not affect the traffic.
    }
  }
}

/** Number of characters that remain of a body that is too long. */
const TRUNCATED_TEXT_LENGTH = 1_000;

/** Members of A2A objects that show the structure of traffic, and none of its content. */
const STRUCTURE_MEMBERS: ReadonlySet<string> = new Set([
  "task",
  "message",
  "statusUpdate",
  "artifactUpdate",
  "status",
  "state",
  "timestamp",
  "artifact",
  "artifactId",
  "append",
  "lastChunk",
  "id",
  "taskId",
  "contextId",
  "messageId",
  "role",
  "referenceTaskIds",
  "kind",
  "final",
  "error",
  "code",
  "result",
  "method",
  "jsonrpc",
]);

/**
 * Returns the JSON text that replaces a body that is longer than the limit of the writer: an object with the number
 * of characters of the body and with its first 1,000 characters. With `keepsStructure`, the object also contains the
 * ids and the states of the body. The redactor sees more than the beginning, because a secret must not be cut before
 * it is recognized.
 */
function encodeTruncatedBody(
  bodyText: string,
  keepsStructure: boolean,
  redactor: Pick<Redactor, "redactAndTruncate">,
): string {
  const text = redactor.redactAndTruncate(bodyText, TRUNCATED_TEXT_LENGTH);
  const structure = keepsStructure ? removeBodyContent(JSON.parse(bodyText) as JsonValue) : undefined;
  return JSON.stringify({
    ...(isObject(structure) && structure),
    [TRUNCATED_BODY_KEY]: { length: bodyText.length, text },
  });
}

/** Returns a copy of a JSON value that contains ids, states, and times, but no texts, files, or metadata. */
function removeBodyContent(body: JsonValue): JsonValue {
  if (Array.isArray(body)) return body.map(removeBodyContent);
  if (!isObject(body)) return body;
  const structure: JsonObject = {};
  for (const [name, value] of Object.entries(body))
    if (STRUCTURE_MEMBERS.has(name)) structure[name] = removeBodyContent(value);
  return structure;
}

/** Returns the JSON text of a body without its content, like `removeBodyContent`. */
function encodeBodyStructure(bodyText: string): string {
  return JSON.stringify(removeBodyContent(JSON.parse(bodyText) as JsonValue));
}
