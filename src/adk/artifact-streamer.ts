import type { AgentEvent } from "../engine/index.ts";
import { type JsonObject, type Part, appendPart } from "../protocol/index.ts";
import { toAdkMetadataKey } from "./metadata.ts";
import { THOUGHT_SIGNATURE_KEY } from "./parts.ts";

const PARTIAL_KEY = toAdkMetadataKey("partial");

type ArtifactEvent = Extract<AgentEvent, { artifact: unknown }>;

/** Text of one kind that was told in pieces, or (`text` undefined) one part of another kind. */
interface EmittedContent {
  /** What stands beside the text; for other parts the whole part as JSON. */
  readonly mergeKey: string;
  text: string | undefined;
}

/** An artifact that grows. */
interface OpenArtifact {
  readonly artifactId: string;
  readonly emittedContent: EmittedContent[];
  /** What came last and is not told yet; never empty. */
  bufferedParts: Part[];
  metadata: JsonObject | undefined;
  /** When the last chunk was told. */
  emittedAt: number;
}

/** Pieces that come faster are told together: a chunk for each frame of a screen, in milliseconds. */
const MIN_CHUNK_INTERVAL_MS = 16;

/**
 * One artifact for each chain of ADK events: pieces that are marked partial, and then the whole that repeats them.
 *
 * The pieces are told as chunks of which the last one carries `lastChunk`, so that a reader who joins the chunks has
 * the artifact, once. Whether a piece is the last is known only when the whole follows; therefore one piece is held
 * back until then, and with it all that comes within a frame of the last chunk. `flush` lets go of what is held, up to
 * its last character, when nothing follows for a while.
 * See docs/decisions/004-adk-artifacts.md.
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

  /** True when `flush` would tell something. */
  get hasBufferedParts(): boolean {
    return this.#hasNewInput && this.#openArtifacts.size > 0;
  }

  /** A piece. `metadata` is asked for only where it is told: with the first piece and with one that says more. */
  addPartial(
    chain: string,
    parts: Part[],
    metadata: () => JsonObject,
    saysMore: boolean,
  ): ArtifactEvent | undefined {
    this.#hasNewInput = true;
    const stream = this.#openArtifacts.get(chain);
    if (!stream) {
      const artifactId = this.#newId();
      // The first piece waits for the second one, and not for the end of a frame.
      const stream = {
        artifactId,
        emittedContent: [],
        bufferedParts: parts,
        metadata: metadata(),
        emittedAt: -Infinity,
      };
      this.#openArtifacts.set(chain, stream);
      return undefined;
    }
    const now = this.#now();
    if (now - stream.emittedAt < MIN_CHUNK_INTERVAL_MS) {
      for (const part of parts) appendPart(stream.bufferedParts, part);
      if (saysMore) stream.metadata = { ...stream.metadata, ...metadata() };
      return undefined;
    }
    const event = emitChunk(stream, stream.bufferedParts, stream.metadata);
    stream.emittedAt = now;
    stream.bufferedParts = parts;
    stream.metadata = saysMore ? metadata() : undefined;
    return event;
  }

  /** The whole: ends the chain. */
  addComplete(chain: string, parts: Part[], metadata: JsonObject): ArtifactEvent | undefined {
    const stream = this.#openArtifacts.get(chain);
    if (!stream) {
      return parts.length > 0
        ? buildArtifactEvent(this.#newId(), parts, metadata, { lastChunk: true })
        : undefined;
    }
    this.#openArtifacts.delete(chain);
    // The pieces are all there is when the whole repeats none of them, as when it only calls a long-running tool.
    const whole = parts.length > 0 ? parts : undefined;
    if (stream.emittedContent.length === 0) {
      return buildArtifactEvent(stream.artifactId, whole ?? stream.bufferedParts, metadata, {
        lastChunk: true,
      });
    }
    const rest = whole ? computeRemainder(whole, stream.emittedContent) : stream.bufferedParts;
    return rest?.length
      ? buildArtifactEvent(stream.artifactId, rest, metadata, { append: true, lastChunk: true })
      : buildArtifactEvent(stream.artifactId, parts, metadata, { lastChunk: true });
  }

  /** Lets go of what is held but its last character, which stays for the chunk that ends the artifact. */
  flush(): ArtifactEvent[] {
    const events: ArtifactEvent[] = [];
    this.#hasNewInput = false;
    for (const stream of this.#openArtifacts.values()) {
      const [now, later] = splitLastCharacter(stream.bufferedParts);
      if (now.length === 0) continue;
      events.push(emitChunk(stream, now, stream.metadata));
      stream.bufferedParts = later;
      stream.metadata = undefined;
    }
    return events;
  }

  /** The run ended before the whole came: what there is stays, marked as partial (`adk_partial`). */
  closeOpenArtifacts(): ArtifactEvent[] {
    const events: ArtifactEvent[] = [];
    for (const [chain, stream] of this.#openArtifacts) {
      this.#openArtifacts.delete(chain);
      const metadata = { ...stream.metadata, [PARTIAL_KEY]: true };
      events.push({ ...emitChunk(stream, stream.bufferedParts, metadata), lastChunk: true });
    }
    return events;
  }
}

/** The next chunk of a stream: a new artifact the first time, growth after that. */
function emitChunk(stream: OpenArtifact, parts: Part[], metadata: JsonObject | undefined): ArtifactEvent {
  const append = stream.emittedContent.length > 0;
  recordEmitted(stream.emittedContent, parts);
  return buildArtifactEvent(stream.artifactId, parts, metadata, append ? { append: true } : {});
}

/**
 * Metadata stands on the artifact, where GetTask finds it, and on the event, where the bridges of Go and Python look;
 * but `adk_partial` only on the artifact, and only when no whole will follow: each of ADK's remote agents looks for it
 * in one of the two places, and does not keep what is marked so.
 */
function buildArtifactEvent(
  artifactId: string,
  parts: Part[],
  metadata: JsonObject | undefined,
  flags: { append?: true; lastChunk?: true },
): ArtifactEvent {
  const artifact = { artifactId, parts };
  if (!metadata || Object.keys(metadata).length === 0) return { artifact, ...flags };
  const { [PARTIAL_KEY]: _, ...update } = metadata;
  const event: ArtifactEvent = { artifact: { ...artifact, metadata }, ...flags };
  if (Object.keys(update).length > 0) event.metadata = update;
  return event;
}

function recordEmitted(told: EmittedContent[], parts: readonly Part[]): void {
  for (const part of parts) {
    const about = computeMergeKey(part);
    const last = told.at(-1);
    if (!("text" in part)) told.push({ mergeKey: about, text: undefined });
    else if (last?.mergeKey === about && last.text !== undefined) last.text += part.text;
    else told.push({ mergeKey: about, text: part.text });
  }
}

/** The signature of a thought comes only with the whole; it makes no other text of it. */
function computeMergeKey(part: Part): string {
  if (!("text" in part)) return JSON.stringify(part);
  if (part.metadata === undefined) return "";
  const { [THOUGHT_SIGNATURE_KEY]: _, ...metadata } = part.metadata;
  return Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata);
}

/** What of `whole` is not told yet; undefined when `whole` does not begin with what was told. */
function computeRemainder(whole: readonly Part[], told: readonly EmittedContent[]): Part[] | undefined {
  const rest = whole.slice();
  for (const { mergeKey: about, text } of told) {
    let expected = text;
    do {
      const part = rest.shift();
      if (!part || computeMergeKey(part) !== about) return undefined;
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

/** Splits before the last character (a code point, so that no surrogate pair is torn) of the last part. */
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
