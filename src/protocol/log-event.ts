import type { TaskEvent, TaskArtifactUpdateEvent } from "./event.ts";
import { isPlainTextPart } from "./message.ts";

/** Encodes an event as a text or as bytes, for example as the JSON of another protocol version. */
export type EventEncoder<Encoded extends string | Uint8Array> = (event: TaskEvent) => Encoded;

/** Encodes an event as one line of text. */
export type EventTextEncoder = EventEncoder<string>;

/** One encoding of an event, in a list of the few encodings that its readers use. */
interface EventEncoding {
  readonly encoder: EventEncoder<string | Uint8Array>;
  readonly encoded: string | Uint8Array;
  readonly next: EventEncoding | undefined;
}

/**
 * An event in a task's log. The engine creates log events from objects, and a store creates log events from
 * JSON text. A log event is created from either an object or JSON text, and computes the other form on first
 * use. An event is therefore serialized at most once for any number of readers.
 */
export class LogEvent {
  /**
   * Sequence number in the log (1, 2, 3 … without gaps). An event outside a log, such as a reply without a
   * task, has the number 0.
   */
  readonly seq: number;
  /**
   * Time in milliseconds since 1970 at which the commit of the event began, or `undefined` if the event is not from a
   * store, or if the store keeps no times.
   */
  readonly committedAt: number | undefined;
  #event: TaskEvent | undefined;
  #json: string | undefined;
  #encodings: EventEncoding | undefined;

  private constructor(
    seq: number,
    event: TaskEvent | undefined,
    json: string | undefined,
    committedAt: number | undefined,
  ) {
    this.seq = seq;
    this.committedAt = committedAt;
    this.#event = event;
    this.#json = json;
  }

  static create(seq: number, event: TaskEvent): LogEvent {
    return new LogEvent(seq, event, undefined, undefined);
  }

  /** Creates a log event from JSON text. `jsonText` must be the unchanged JSON text of a stored `TaskEvent`. */
  static fromJsonText(seq: number, json: string, committedAt?: number): LogEvent {
    return new LogEvent(seq, undefined, json, committedAt);
  }

  get event(): TaskEvent {
    return (this.#event ??= JSON.parse(this.jsonText) as TaskEvent);
  }

  /** The event as one line of A2A 1.0 JSON text. */
  get jsonText(): string {
    return (this.#json ??= JSON.stringify(this.#event));
  }

  /**
   * Returns the event as `encoder` encodes it. The log event keeps one result for each encoder, so that readers of
   * different bindings and versions share an event. Callers must use a fixed set of encoders.
   */
  encodeWith<Encoded extends string | Uint8Array>(encoder: EventEncoder<Encoded>): Encoded {
    for (let encoding = this.#encodings; encoding; encoding = encoding.next)
      if (encoding.encoder === encoder) return encoding.encoded as Encoded;
    const encoded = encoder(this.event);
    this.#encodings = { encoder, encoded, next: this.#encodings };
    return encoded;
  }
}

/**
 * Returns true if two adjacent chunks can become one event without losing information. Both chunks must
 * contain plain text of the same artifact. The second chunk must only append text, and the first chunk must
 * not have `lastChunk`.
 */
export function canMergeChunks(first: TaskEvent, second: TaskEvent): boolean {
  if (!("artifactUpdate" in first) || !("artifactUpdate" in second)) return false;
  const a = first.artifactUpdate;
  const b = second.artifactUpdate;
  if (!b.append || a.lastChunk || a.artifact.artifactId !== b.artifact.artifactId) return false;
  if (a.metadata || !isChunkMergeableWithoutLoss(b)) return false;
  const last = a.artifact.parts.at(-1);
  const [next] = b.artifact.parts;
  return last !== undefined && next !== undefined && isPlainTextPart(last) && isPlainTextPart(next);
}

/**
 * Returns true if `second` replaces the artifact to which `first` adds a chunk, so that `first` has no effect.
 * Agents often end an artifact with its entire content.
 */
export function isChunkReplacedBy(first: TaskEvent, second: TaskEvent): boolean {
  if (!("artifactUpdate" in first) || !("artifactUpdate" in second)) return false;
  const a = first.artifactUpdate;
  const b = second.artifactUpdate;
  const isReplacement = !b.append && a.artifact.artifactId === b.artifact.artifactId;
  return isReplacement && !a.lastChunk && !a.metadata;
}

/** Returns true if a chunk has one part and no members that merging would discard. */
function isChunkMergeableWithoutLoss({ metadata, artifact }: TaskArtifactUpdateEvent): boolean {
  const { parts, name, description, extensions } = artifact;
  return parts.length === 1 && !(metadata || artifact.metadata || extensions || name || description);
}

/**
 * An event that can grow by later chunks without copying the earlier text. The first event of a merged chunk
 * is not modified.
 */
export class MergedChunk {
  readonly event: { artifactUpdate: TaskArtifactUpdateEvent };
  readonly #text: { text: string };

  constructor(first: TaskArtifactUpdateEvent) {
    const parts = first.artifact.parts.slice();
    const last = parts.at(-1);
    this.#text = { text: last && "text" in last ? last.text : "" };
    parts[parts.length - 1] = this.#text;
    this.event = { artifactUpdate: { ...first, artifact: { ...first.artifact, parts } } };
  }

  /** Adds a chunk to the event. The caller must first check the chunk with `canMergeChunks`. */
  add({ artifact, lastChunk }: TaskArtifactUpdateEvent): void {
    const [part] = artifact.parts;
    if (part && "text" in part) this.#text.text += part.text;
    if (lastChunk) this.event.artifactUpdate.lastChunk = true;
  }
}
