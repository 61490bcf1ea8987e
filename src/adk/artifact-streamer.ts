import { type JsonObject, type Part, appendPartJoiningText } from "../protocol/index.ts";
import type { ArtifactAgentEvent } from "./per-run-artifact-merger.ts";
import { PARTIAL_KEY } from "./adk-event-metadata.ts";
import { THOUGHT_SIGNATURE_KEY } from "./part-conversion.ts";

/**
 * Emitted content of an artifact: consecutive text parts of one type, or one part without text.
 */
interface EmittedArtifactContent {
  /**
   * Metadata of a text part as JSON, without the thought signature. For a part without text, the entire
   * part as JSON.
   */
  readonly mergeKey: string;
  text: string | undefined;
}

/** State of an artifact that is not complete. */
interface OpenArtifact {
  readonly artifactId: string;
  readonly emittedContent: EmittedArtifactContent[];
  /** Latest parts of the artifact that still wait for emission. The list of buffered parts is never empty. */
  bufferedParts: Part[];
  metadata: JsonObject | undefined;
  /** Monotonic time of the last emitted chunk, in milliseconds. */
  emittedAt: number;
}

/**
 * Minimum time between two chunks of an artifact in milliseconds, about one screen frame. Parts that arrive
 * within the minimum time are emitted together.
 */
const MIN_ARTIFACT_CHUNK_INTERVAL_MS = 16;

/**
 * Turns the events of an ADK run into artifact chunks, with one artifact for each event chain. A chain
 * consists of partial events, followed by one complete event with the same content. The joined chunks of
 * an artifact contain the content of the chain exactly once, and the last chunk has `lastChunk`. Only the
 * complete event shows which partial event was the last. The artifact streamer therefore buffers one
 * partial event. The streamer also buffers all parts that arrive within one frame after a chunk. If no
 * event follows for a while, `flush` emits the buffered content except the last character. See
 * docs/decisions/004-adk-artifacts.md for the design of artifacts.
 */
export class ArtifactStreamer {
  readonly #newId: () => string;
  readonly #now: () => number;
  readonly #openArtifacts = new Map<string, OpenArtifact>();
  #hasNewInput = false;

  constructor(newId: () => string, now: () => number) {
    this.#newId = newId;
    this.#now = now;
  }

  /** Returns true if `flush` may emit buffered parts. */
  get hasBufferedParts(): boolean {
    return this.#hasNewInput && this.#openArtifacts.size > 0;
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
      // The first partial event is emitted as soon as the second one arrives, without waiting for the end of
      // a frame.
      this.#openArtifacts.set(chain, {
        artifactId: this.#newId(),
        emittedContent: [],
        bufferedParts: parts,
        metadata: metadata(),
        emittedAt: -Infinity,
      });
      return undefined;
    }
    const now = this.#now();
    if (now - openArtifact.emittedAt < MIN_ARTIFACT_CHUNK_INTERVAL_MS) {
      for (const part of parts) appendPartJoiningText(openArtifact.bufferedParts, part);
      if (hasExtraMetadata) openArtifact.metadata = { ...openArtifact.metadata, ...metadata() };
      return undefined;
    }
    const event = buildNextArtifactChunk(openArtifact, openArtifact.bufferedParts, openArtifact.metadata);
    openArtifact.emittedAt = now;
    openArtifact.bufferedParts = parts;
    openArtifact.metadata = hasExtraMetadata ? metadata() : undefined;
    return event;
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
    if (!openArtifact) {
      return parts.length > 0
        ? buildArtifactEvent(this.#newId(), parts, metadata, { lastChunk: true })
        : undefined;
    }
    this.#openArtifacts.delete(chain);
    // A complete event without artifact parts repeats nothing, for example when it only calls a long-running
    // tool. The partial events are then the entire content.
    const complete = parts.length > 0 ? parts : undefined;
    if (openArtifact.emittedContent.length === 0) {
      return buildArtifactEvent(openArtifact.artifactId, complete ?? openArtifact.bufferedParts, metadata, {
        lastChunk: true,
      });
    }
    const rest = complete
      ? computeUnemittedParts(complete, openArtifact.emittedContent)
      : openArtifact.bufferedParts;
    return rest?.length
      ? buildArtifactEvent(openArtifact.artifactId, rest, metadata, { append: true, lastChunk: true })
      : buildArtifactEvent(openArtifact.artifactId, parts, metadata, { lastChunk: true });
  }

  /**
   * Emits all buffered content except the last character. The streamer keeps the character for the chunk
   * that closes the artifact.
   */
  flush(): ArtifactAgentEvent[] {
    const events: ArtifactAgentEvent[] = [];
    this.#hasNewInput = false;
    for (const openArtifact of this.#openArtifacts.values()) {
      const [now, later] = splitLastCharacter(openArtifact.bufferedParts);
      if (now.length === 0) continue;
      events.push(buildNextArtifactChunk(openArtifact, now, openArtifact.metadata));
      openArtifact.bufferedParts = later;
      openArtifact.metadata = undefined;
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
      events.push({
        ...buildNextArtifactChunk(openArtifact, openArtifact.bufferedParts, metadata),
        lastChunk: true,
      });
    }
    return events;
  }
}

/**
 * Returns the next chunk of an artifact. The first chunk creates the artifact, and later chunks append
 * content to the artifact.
 */
function buildNextArtifactChunk(
  openArtifact: OpenArtifact,
  parts: Part[],
  metadata: JsonObject | undefined,
): ArtifactAgentEvent {
  const append = openArtifact.emittedContent.length > 0;
  recordEmittedParts(openArtifact.emittedContent, parts);
  return buildArtifactEvent(openArtifact.artifactId, parts, metadata, append ? { append: true } : {});
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

function recordEmittedParts(emittedContent: EmittedArtifactContent[], parts: readonly Part[]): void {
  for (const part of parts) {
    const mergeKey = computePartMergeKey(part);
    const last = emittedContent.at(-1);
    if (!("text" in part)) emittedContent.push({ mergeKey, text: undefined });
    else if (last?.mergeKey === mergeKey && last.text !== undefined) last.text += part.text;
    else emittedContent.push({ mergeKey, text: part.text });
  }
}

/**
 * Returns a string key for a text part. The streamer can join two text parts with equal keys. The key
 * omits the thought signature, because partial events have no thought signature.
 */
function computePartMergeKey(part: Part): string {
  if (!("text" in part)) return JSON.stringify(part);
  if (part.metadata === undefined) return "";
  const { [THOUGHT_SIGNATURE_KEY]: _, ...metadata } = part.metadata;
  return Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata);
}

/**
 * Returns the parts of the complete event's content that have not been emitted. Returns `undefined` if the
 * content of the complete event does not start with the emitted content.
 */
function computeUnemittedParts(
  complete: readonly Part[],
  emittedContent: readonly EmittedArtifactContent[],
): Part[] | undefined {
  const rest = complete.slice();
  for (const { mergeKey, text } of emittedContent) {
    let expected = text;
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
 * Splits the last character off a list of parts. A character is a Unicode code point, so surrogate pairs
 * stay together.
 */
function splitLastCharacter(parts: readonly Part[]): [now: Part[], later: Part[]] {
  const last = parts.at(-1);
  if (!last) return [[], []];
  const now = parts.slice(0, -1);
  if (!("text" in last)) return [now, [last]];
  const pair = /[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(last.text);
  const at = last.text.length - (pair ? 2 : 1);
  if (at > 0) now.push({ ...last, text: last.text.slice(0, at) });
  return [now, [{ ...last, text: last.text.slice(at) }]];
}
