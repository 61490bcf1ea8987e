import type { AgentEvent } from "../engine/index.ts";
import { type JsonObject, type Part, pushPart } from "../protocol/index.ts";
import { metadataKey } from "./metadata.ts";
import { SIGNATURE } from "./parts.ts";

const PARTIAL = metadataKey("partial");

type ArtifactEvent = Extract<AgentEvent, { artifact: unknown }>;

/** Text of one kind that was told in pieces, or (`text` undefined) one part of another kind. */
interface Told {
  /** What stands beside the text; for other parts the whole part as JSON. */
  readonly about: string;
  text: string | undefined;
}

/** An artifact that grows. */
interface Stream {
  readonly artifactId: string;
  readonly told: Told[];
  /** What came last and is not told yet; never empty. */
  held: Part[];
  metadata: JsonObject | undefined;
  /** When the last chunk was told. */
  toldAt: number;
}

/** Pieces that come faster are told together: a chunk for each frame of a screen, in milliseconds. */
const FRAME_MS = 16;

/**
 * One artifact for each chain of ADK events: pieces that are marked partial, and then the whole that repeats them.
 *
 * The pieces are told as chunks of which the last one carries `lastChunk`, so that a reader who joins the chunks has
 * the artifact, once. Whether a piece is the last is known only when the whole follows; therefore one piece is held
 * back until then, and with it all that comes within a frame of the last chunk. `release` lets go of what is held, up to
 * its last character, when nothing follows for a while.
 * See docs/decisions/004-adk-artifacts.md.
 */
export class Artifacts {
  readonly #newId: () => string;
  readonly #now: () => number;
  readonly #streams = new Map<string, Stream>();
  #fresh = false;

  constructor(newId: () => string, now: () => number) {
    this.#newId = newId;
    this.#now = now;
  }

  /** True when `release` would tell something. */
  get holding(): boolean {
    return this.#fresh && this.#streams.size > 0;
  }

  /** A piece. `metadata` is asked for only where it is told: with the first piece and with one that says more. */
  addPiece(
    chain: string,
    parts: Part[],
    metadata: () => JsonObject,
    saysMore: boolean,
  ): ArtifactEvent | undefined {
    this.#fresh = true;
    const stream = this.#streams.get(chain);
    if (!stream) {
      const artifactId = this.#newId();
      // The first piece waits for the second one, and not for the end of a frame.
      const stream = { artifactId, told: [], held: parts, metadata: metadata(), toldAt: -Infinity };
      this.#streams.set(chain, stream);
      return undefined;
    }
    const now = this.#now();
    if (now - stream.toldAt < FRAME_MS) {
      for (const part of parts) pushPart(stream.held, part);
      if (saysMore) stream.metadata = { ...stream.metadata, ...metadata() };
      return undefined;
    }
    const event = tell(stream, stream.held, stream.metadata);
    stream.toldAt = now;
    stream.held = parts;
    stream.metadata = saysMore ? metadata() : undefined;
    return event;
  }

  /** The whole: ends the chain. */
  addWhole(chain: string, parts: Part[], metadata: JsonObject): ArtifactEvent | undefined {
    const stream = this.#streams.get(chain);
    if (!stream) {
      return parts.length > 0 ? withMetadata(this.#newId(), parts, metadata, { lastChunk: true }) : undefined;
    }
    this.#streams.delete(chain);
    // The pieces are all there is when the whole repeats none of them, as when it only calls a long-running tool.
    const whole = parts.length > 0 ? parts : undefined;
    if (stream.told.length === 0) {
      return withMetadata(stream.artifactId, whole ?? stream.held, metadata, { lastChunk: true });
    }
    const rest = whole ? remainder(whole, stream.told) : stream.held;
    return rest?.length
      ? withMetadata(stream.artifactId, rest, metadata, { append: true, lastChunk: true })
      : withMetadata(stream.artifactId, parts, metadata, { lastChunk: true });
  }

  /** Lets go of what is held but its last character, which stays for the chunk that ends the artifact. */
  release(): ArtifactEvent[] {
    const events: ArtifactEvent[] = [];
    this.#fresh = false;
    for (const stream of this.#streams.values()) {
      const [now, later] = withoutLastCharacter(stream.held);
      if (now.length === 0) continue;
      events.push(tell(stream, now, stream.metadata));
      stream.held = later;
      stream.metadata = undefined;
    }
    return events;
  }

  /** The run ended before the whole came: what there is stays, marked as partial (`adk_partial`). */
  seal(): ArtifactEvent[] {
    const events: ArtifactEvent[] = [];
    for (const [chain, stream] of this.#streams) {
      this.#streams.delete(chain);
      const metadata = { ...stream.metadata, [PARTIAL]: true };
      events.push({ ...tell(stream, stream.held, metadata), lastChunk: true });
    }
    return events;
  }
}

/** The next chunk of a stream: a new artifact the first time, growth after that. */
function tell(stream: Stream, parts: Part[], metadata: JsonObject | undefined): ArtifactEvent {
  const append = stream.told.length > 0;
  remember(stream.told, parts);
  return withMetadata(stream.artifactId, parts, metadata, append ? { append: true } : {});
}

/**
 * Metadata stands on the artifact, where GetTask finds it, and on the event, where the bridges of Go and Python look;
 * but `adk_partial` only on the artifact, and only when no whole will follow: each of ADK's remote agents looks for it
 * in one of the two places, and does not keep what is marked so.
 */
function withMetadata(
  artifactId: string,
  parts: Part[],
  metadata: JsonObject | undefined,
  flags: { append?: true; lastChunk?: true },
): ArtifactEvent {
  const artifact = { artifactId, parts };
  if (!metadata || Object.keys(metadata).length === 0) return { artifact, ...flags };
  const { [PARTIAL]: _, ...update } = metadata;
  const event: ArtifactEvent = { artifact: { ...artifact, metadata }, ...flags };
  if (Object.keys(update).length > 0) event.metadata = update;
  return event;
}

function remember(told: Told[], parts: readonly Part[]): void {
  for (const part of parts) {
    const about = aboutOf(part);
    const last = told.at(-1);
    if (!("text" in part)) told.push({ about, text: undefined });
    else if (last?.about === about && last.text !== undefined) last.text += part.text;
    else told.push({ about, text: part.text });
  }
}

/** The signature of a thought comes only with the whole; it makes no other text of it. */
function aboutOf(part: Part): string {
  if (!("text" in part)) return JSON.stringify(part);
  if (part.metadata === undefined) return "";
  const { [SIGNATURE]: _, ...metadata } = part.metadata;
  return Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata);
}

/** What of `whole` is not told yet; undefined when `whole` does not begin with what was told. */
function remainder(whole: readonly Part[], told: readonly Told[]): Part[] | undefined {
  const rest = whole.slice();
  for (const { about, text } of told) {
    let expected = text;
    do {
      const part = rest.shift();
      if (!part || aboutOf(part) !== about) return undefined;
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
function withoutLastCharacter(parts: readonly Part[]): [now: Part[], later: Part[]] {
  const last = parts.at(-1);
  if (!last) return [[], []];
  const now = parts.slice(0, -1);
  if (!("text" in last)) return [now, [last]];
  const pair = /[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(last.text);
  const at = last.text.length - (pair ? 2 : 1);
  if (at > 0) now.push({ ...last, text: last.text.slice(0, at) });
  return [now, [{ ...last, text: last.text.slice(at) }]];
}
