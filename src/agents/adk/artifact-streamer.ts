import type { AgentEvent } from "../../engine/index.ts";
import {
  appendPartJoiningText,
  type ArtifactEnding,
  type JsonObject,
  type Part,
  splitLastPiece,
} from "../../protocol/index.ts";
import { PARTIAL_KEY } from "./adk-event-metadata.ts";
import { THOUGHT_SIGNATURE_KEY } from "./part-conversion.ts";

/** An engine event that adds content to an artifact. */
export type ArtifactAgentEvent = Extract<AgentEvent, { artifact: unknown }>;

/** State of an artifact that is not complete. */
interface OpenArtifact {
  readonly artifactId: string;
  /** Content that has already been emitted. Adjacent plain text parts are joined, as in `fold`. */
  readonly emittedParts: Part[];
  /**
   * Latest parts of the artifact, which have not been emitted yet. With `pieces`, there is always at least
   * one part.
   */
  bufferedParts: Part[];
  /** True if `flush` has emitted all buffered content except the last piece. */
  hasOnlyLastPiece: boolean;
  metadata: JsonObject | undefined;
  /** Monotonic time of the last emitted chunk, in milliseconds. */
  emittedAt: number;
}

/**
 * Minimum time in milliseconds between two chunks of an artifact. The value is about one screen frame. Parts
 * that arrive within this time are emitted together.
 */
const MIN_ARTIFACT_CHUNK_INTERVAL_MS = 16;

/**
 * Converts the events of an ADK run to artifact chunks, with one artifact for each event chain. A chain
 * consists of partial events, followed by one complete event with the same content. The last chunk of an
 * artifact sets `lastChunk`. With both forms of `ArtifactEnding`, a client that follows A2A's rules for
 * `append` ends with exactly one copy of the content. See docs/decisions/027-streamed-answers-as-artifacts.md for the
 * reasons.
 *
 * The streamer buffers the first partial event, because the complete event may follow immediately and then contains
 * everything. The streamer also buffers all parts that arrive within 16 ms after a chunk. If no event follows, `flush`
 * emits the buffered content. With `pieces`, `flush` keeps the last character for the last chunk, because a chunk
 * must not be empty.
 */
export class ArtifactStreamer {
  readonly #newId: () => string;
  readonly #now: () => number;
  readonly #ending: ArtifactEnding;
  readonly #openArtifacts = new Map<string, OpenArtifact>();
  #hasNewInput = false;
  #hasUnsentArtifact = false;

  constructor(newId: () => string, now: () => number, ending: ArtifactEnding = "whole") {
    this.#newId = newId;
    this.#now = now;
    this.#ending = ending;
  }

  /** Returns true if `flush` may emit buffered parts. */
  get hasBufferedParts(): boolean {
    return this.#hasNewInput && this.#openArtifacts.size > 0;
  }

  /** Returns true if the first parts of an artifact are buffered. */
  get hasUnsentArtifact(): boolean {
    return this.#hasUnsentArtifact;
  }

  /**
   * Adds the parts of a partial event to the open artifact. Returns the next chunk, or `undefined` if no
   * chunk is due. The streamer calls `metadata` only for the first partial event of a chain and for events
   * with extra metadata.
   */
  addPartsOfPartialEvent(
    chain: string,
    parts: Part[],
    metadata: () => JsonObject,
    hasExtraMetadata: boolean,
  ): ArtifactAgentEvent | undefined {
    this.#hasNewInput = true;
    const openArtifact = this.#openArtifacts.get(chain);
    if (!openArtifact) {
      this.#hasUnsentArtifact = true;
      this.#openArtifacts.set(chain, {
        artifactId: this.#newId(),
        emittedParts: [],
        bufferedParts: parts,
        hasOnlyLastPiece: false,
        metadata: metadata(),
        emittedAt: -Infinity,
      });
      return undefined;
    }
    this.#hasUnsentArtifact = false;
    const now = this.#now();
    const isDue = now - openArtifact.emittedAt >= MIN_ARTIFACT_CHUNK_INTERVAL_MS;
    if (isDue) openArtifact.emittedAt = now;
    // With `pieces`, the latest parts may be the last ones of the chain, so they must wait.
    if (isDue && this.#ending === "pieces" && !openArtifact.hasOnlyLastPiece) {
      const event = emitBufferedParts(openArtifact);
      openArtifact.bufferedParts = parts;
      if (hasExtraMetadata) openArtifact.metadata = metadata();
      return event;
    }
    for (const part of parts) appendPartJoiningText(openArtifact.bufferedParts, part);
    openArtifact.hasOnlyLastPiece = false;
    if (hasExtraMetadata) openArtifact.metadata = { ...openArtifact.metadata, ...metadata() };
    return isDue && this.#ending === "whole" ? emitBufferedParts(openArtifact) : undefined;
  }

  /**
   * Adds the parts of a complete event, which closes the artifact of its chain. Returns the last chunk of
   * the artifact, if there is one.
   */
  addPartsOfCompleteEvent(
    chain: string,
    parts: Part[],
    metadata: JsonObject,
  ): ArtifactAgentEvent | undefined {
    const openArtifact = this.#openArtifacts.get(chain);
    this.#hasUnsentArtifact = false;
    if (!openArtifact) {
      return parts.length > 0
        ? buildArtifactEvent(this.#newId(), parts, metadata, { lastChunk: true })
        : undefined;
    }
    this.#openArtifacts.delete(chain);
    // A complete event without artifact parts repeats nothing, for example when it only calls a long-running
    // tool. The partial events are then the entire content.
    const complete = parts.length > 0 ? parts : undefined;
    return this.#closeArtifact(openArtifact, complete, metadata);
  }

  /** Returns the last chunk of an artifact. Without `complete`, the content is all that was streamed. */
  #closeArtifact(
    { artifactId, emittedParts, bufferedParts }: OpenArtifact,
    complete: Part[] | undefined,
    metadata: JsonObject,
  ): ArtifactAgentEvent {
    if (this.#ending === "pieces" && emittedParts.length > 0) {
      const rest = complete ? computeUnemittedParts(complete, emittedParts) : bufferedParts;
      if (rest?.length)
        return buildArtifactEvent(artifactId, rest, metadata, { append: true, lastChunk: true });
    }
    const whole = complete ?? joinParts([...emittedParts, ...bufferedParts]);
    return buildArtifactEvent(artifactId, whole, metadata, { lastChunk: true });
  }

  /**
   * Emits all buffered content. With `pieces`, the streamer keeps the last character for the chunk that closes
   * the artifact.
   */
  flush(): ArtifactAgentEvent[] {
    const events: ArtifactAgentEvent[] = [];
    this.#hasNewInput = false;
    this.#hasUnsentArtifact = false;
    for (const openArtifact of this.#openArtifacts.values()) {
      const [now, later] =
        this.#ending === "whole"
          ? [openArtifact.bufferedParts, []]
          : splitLastPiece(openArtifact.bufferedParts);
      if (now.length === 0) continue;
      openArtifact.bufferedParts = now;
      openArtifact.emittedAt = this.#now();
      events.push(emitBufferedParts(openArtifact));
      openArtifact.bufferedParts = later;
      openArtifact.hasOnlyLastPiece = later.length > 0;
    }
    return events;
  }

  /**
   * Closes all artifacts whose complete event never arrived. Artifacts without a complete event keep their
   * content and are marked with `adk_partial`.
   */
  closeOpenArtifacts(): ArtifactAgentEvent[] {
    const events: ArtifactAgentEvent[] = [];
    for (const [chain, openArtifact] of this.#openArtifacts) {
      this.#openArtifacts.delete(chain);
      const metadata = { ...openArtifact.metadata, [PARTIAL_KEY]: true };
      events.push(this.#closeArtifact(openArtifact, undefined, metadata));
    }
    return events;
  }
}

/**
 * Moves the buffered parts to the emitted parts, and returns them as the next chunk. The first chunk creates
 * the artifact, and later chunks append content to the artifact.
 */
function emitBufferedParts(openArtifact: OpenArtifact): ArtifactAgentEvent {
  const { artifactId, emittedParts, bufferedParts, metadata } = openArtifact;
  const append = emittedParts.length > 0;
  for (const part of bufferedParts) appendPartJoiningText(emittedParts, part);
  openArtifact.bufferedParts = [];
  openArtifact.metadata = undefined;
  return buildArtifactEvent(artifactId, bufferedParts, metadata, append ? { append: true } : {});
}

function joinParts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) appendStreamedPart(joined, part);
  return joined;
}

/**
 * Appends a part, or joins it with the preceding part if both are text of the same kind, for example
 * thoughts.
 */
export function appendStreamedPart(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (last && "text" in last && "text" in part && computePartMergeKey(last) === computePartMergeKey(part))
    parts[parts.length - 1] = { ...last, ...part, text: last.text + part.text };
  else parts.push(part);
}

/**
 * Returns an artifact event. Both the artifact and the event contain the metadata. The result of `GetTask`
 * contains the metadata of the artifact. The ADK bridges for Go and Python read the metadata of the event.
 *
 * Only the artifact has the mark `adk_partial`, and only if no complete event follows. ADK's remote agents
 * drop content with the mark `adk_partial`, whether the artifact or the event has the mark.
 */
function buildArtifactEvent(
  artifactId: string,
  parts: Part[],
  metadata: JsonObject | undefined,
  flags: { append?: true; lastChunk?: true },
): ArtifactAgentEvent {
  const artifact = { artifactId, parts };
  if (!metadata || Object.keys(metadata).length === 0) return { artifact, ...flags };
  const { [PARTIAL_KEY]: _, ...update } = metadata;
  const event: ArtifactAgentEvent = { artifact: { ...artifact, metadata }, ...flags };
  if (Object.keys(update).length > 0) event.metadata = update;
  return event;
}

/**
 * Returns a string key for a part. The streamer can join two text parts if their keys are equal. The key
 * omits the thought signature, because partial events have no thought signature.
 */
function computePartMergeKey(part: Part): string {
  if (!("text" in part)) return JSON.stringify(part);
  if (part.metadata === undefined) return "";
  const { [THOUGHT_SIGNATURE_KEY]: _, ...metadata } = part.metadata;
  return Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata);
}

/**
 * Returns the parts of the complete event that have not been emitted. Returns `undefined` if the content of
 * the complete event does not start with the emitted content.
 */
function computeUnemittedParts(complete: readonly Part[], emittedParts: readonly Part[]): Part[] | undefined {
  const rest = complete.slice();
  for (const emittedPart of joinParts(emittedParts)) {
    const mergeKey = computePartMergeKey(emittedPart);
    let expected = "text" in emittedPart ? emittedPart.text : undefined;
    do {
      const part = rest.shift();
      if (!part || computePartMergeKey(part) !== mergeKey) return undefined;
      if (expected === undefined || !("text" in part)) break;
      if (expected.startsWith(part.text)) {
        expected = expected.slice(part.text.length);
      } else if (part.text.startsWith(expected)) {
        rest.unshift({ ...part, text: part.text.slice(expected.length) });
        expected = "";
      } else return undefined;
    } while (expected);
  }
  return rest;
}

/**
 * Merges all artifacts of a run into one artifact. In the merged artifact, all content of one event chain
 * is contiguous. While one chain is open, the events of all other chains are queued, so the texts of
 * parallel agents do not interleave.
 *
 * The last event repeats the entire content with `lastChunk`, because the last chunk is unknown until the run
 * ends. In that event, the text of each message is a separate part. The merger holds the first event back
 * until another event follows, so a run with one event does not repeat its content.
 */
export class PerRunArtifactMerger {
  readonly #artifactId: string;
  readonly #queuedByChain = new Map<string, ArtifactAgentEvent[]>();
  readonly #parts: Part[] = [];
  #metadata: JsonObject | undefined;
  /**
   * Key of the current event chain, and the number of parts that precede the chain.
   */
  #currentChain: string | undefined;
  #partCountBeforeChain = 0;
  #heldEvent: ArtifactAgentEvent | undefined;
  #hasEmitted = false;

  constructor(artifactId: string) {
    this.#artifactId = artifactId;
  }

  get hasHeldEvent(): boolean {
    return this.#heldEvent !== undefined;
  }

  /** Returns the engine events to emit now. The artifact id of `event` identifies the event's chain. */
  mergeArtifactEvent(event: ArtifactAgentEvent): ArtifactAgentEvent[] {
    const chain = event.artifact.artifactId;
    if (this.#currentChain !== undefined && this.#currentChain !== chain) {
      const queue = this.#queuedByChain.get(chain);
      if (queue) queue.push(event);
      else this.#queuedByChain.set(chain, [event]);
      return [];
    }
    const merged = [this.#toPerRunArtifactEvent(event)];
    while (this.#currentChain === undefined) {
      const [next] = this.#queuedByChain;
      if (!next) break;
      this.#queuedByChain.delete(next[0]);
      merged.push(...next[1].map((queued) => this.#toPerRunArtifactEvent(queued)));
    }
    if (this.#hasEmitted || merged.length > 1 || this.#heldEvent)
      return [...this.releaseHeldEvent(), ...merged];
    [this.#heldEvent] = merged;
    return [];
  }

  /** Returns the event that the merger holds back, if any. */
  releaseHeldEvent(): ArtifactAgentEvent[] {
    const held = this.#heldEvent;
    this.#heldEvent = undefined;
    this.#hasEmitted = true;
    return held ? [held] : [];
  }

  /** Returns the event that ends the artifact. `isPartial` marks the content of an interrupted run. */
  finish(isPartial: boolean): ArtifactAgentEvent[] {
    this.#heldEvent = undefined;
    if (this.#parts.length === 0) return [];
    const metadata = this.#metadata;
    const artifact = { artifactId: this.#artifactId, parts: this.#parts };
    const artifactMetadata = isPartial ? { ...metadata, [PARTIAL_KEY]: true } : metadata;
    return [
      {
        artifact: artifactMetadata ? { ...artifact, metadata: artifactMetadata } : artifact,
        lastChunk: true,
        ...(metadata && { metadata }),
      },
    ];
  }

  #toPerRunArtifactEvent({ artifact, append, lastChunk, metadata }: ArtifactAgentEvent): ArtifactAgentEvent {
    if (this.#currentChain === undefined) {
      this.#currentChain = artifact.artifactId;
      this.#partCountBeforeChain = this.#parts.length;
    }
    const isFirst = this.#parts.length === 0;
    // A complete answer that differs from its chunks replaces those chunks, and no others.
    const isReplacement = !append && this.#parts.length > this.#partCountBeforeChain;
    if (isReplacement) this.#parts.length = this.#partCountBeforeChain;
    // Only streamed text is joined. Texts of different messages, and the parts of one message, stay separate.
    if (append) for (const part of artifact.parts) appendStreamedPart(this.#parts, part);
    else this.#parts.push(...artifact.parts);
    if (lastChunk) this.#currentChain = undefined;
    if (metadata) this.#metadata = { ...this.#metadata, ...metadata };
    const parts = isReplacement ? this.#parts.slice() : artifact.parts;
    const event: ArtifactAgentEvent = { artifact: { ...artifact, artifactId: this.#artifactId, parts } };
    if (!isFirst && !isReplacement) event.append = true;
    if (metadata) event.metadata = metadata;
    return event;
  }
}
