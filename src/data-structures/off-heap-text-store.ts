import { utf8Codec, type Utf8Codec } from "./utf8-codec.ts";

/** Capacity of a segment that several texts share. */
const DEFAULT_SEGMENT_BYTES = 1024 * 1024;
/** A text larger than this share of a segment gets its own segment, so that no segment ends with a large gap. */
const MAX_SHARED_TEXT_SHARE = 1 / 8;

/** Bytes of texts. A shared segment is filled from start to end, and reused once all of its texts are deleted. */
interface Segment {
  readonly bytes: Uint8Array;
  /** Number of bytes that have been written since the segment was last empty. */
  writtenBytes: number;
  /** Number of bytes of the texts that have not been deleted. */
  usedBytes: number;
  /** All texts that have been written, including deleted texts. */
  texts: OffHeapText[];
}

/** A reference to a text in an `OffHeapTextStore`. Only the store uses the members. */
export interface OffHeapText {
  /** The segment that contains the text, or `undefined` after the deletion of the text. */
  segment: Segment | undefined;
  start: number;
  readonly byteLength: number;
}

/**
 * Stores texts as UTF-8 in large buffers outside of V8's heap. The garbage collector copies and traces only
 * one small object per text. The store reuses the space of deleted texts: `allocatedBytes` is at most twice
 * `usedBytes`, plus three segments (3 MiB by default).
 *
 * The store writes texts one after another. If texts are deleted in the order of their creation, as in a
 * queue, the store never moves a text. Otherwise, the store moves the remaining texts of the emptiest segment
 * as soon as less than half of the space is used.
 */
export class OffHeapTextStore {
  readonly #segmentBytes: number;
  readonly #codec: Utf8Codec;
  #currentSegment: Segment | undefined;
  /** Full shared segments. */
  readonly #fullSegments: Segment[] = [];
  /** Total `usedBytes` of the full segments. */
  #fullSegmentsUsedBytes = 0;
  #spareSegment: Segment | undefined;
  #usedBytes = 0;
  #allocatedBytes = 0;

  constructor(segmentBytes: number = DEFAULT_SEGMENT_BYTES, codec: Utf8Codec = utf8Codec) {
    this.#segmentBytes = segmentBytes;
    this.#codec = codec;
  }

  /** Number of bytes of all texts. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Number of bytes of all buffers. */
  get allocatedBytes(): number {
    return this.#allocatedBytes;
  }

  /** Stores a well-formed text that is not empty. */
  add(text: string): OffHeapText {
    const byteLength = this.#codec.countBytes(text);
    const stored: OffHeapText = { segment: undefined, start: 0, byteLength };
    const { bytes } = this.#allocate(stored);
    this.#codec.write(text, bytes, stored.start, byteLength);
    this.#usedBytes += byteLength;
    return stored;
  }

  read({ segment, start, byteLength }: OffHeapText): string {
    if (!segment) throw new Error("The text was deleted.");
    return this.#codec.read(segment.bytes, start, start + byteLength);
  }

  delete(text: OffHeapText): void {
    const { segment, byteLength } = text;
    if (!segment) return;
    text.segment = undefined;
    this.#usedBytes -= byteLength;
    segment.usedBytes -= byteLength;
    if (segment === this.#currentSegment) {
      if (segment.usedBytes === 0) clearSegment(segment);
    } else if (isSharedSize(byteLength, this.#segmentBytes)) {
      this.#fullSegmentsUsedBytes -= byteLength;
      if (segment.usedBytes === 0) this.#recycle(segment);
      this.#compact();
    } else this.#allocatedBytes -= byteLength;
  }

  /** Finds space for a text, and returns the segment of the text. */
  #allocate(text: OffHeapText): Segment {
    const { byteLength } = text;
    const isShared = isSharedSize(byteLength, this.#segmentBytes);
    const segment = isShared ? this.#requireRoom(byteLength) : this.#createSegment(byteLength);
    text.segment = segment;
    text.start = segment.writtenBytes;
    segment.writtenBytes += byteLength;
    segment.usedBytes += byteLength;
    if (isShared) segment.texts.push(text);
    return segment;
  }

  /** Returns the current segment, or an empty segment if the current segment has no room. */
  #requireRoom(byteLength: number): Segment {
    const current = this.#currentSegment;
    if (current && current.writtenBytes + byteLength <= this.#segmentBytes) return current;
    if (current) {
      this.#fullSegments.push(current);
      this.#fullSegmentsUsedBytes += current.usedBytes;
    }
    const next = this.#spareSegment ?? this.#createSegment(this.#segmentBytes);
    this.#spareSegment = undefined;
    this.#currentSegment = next;
    return next;
  }

  #createSegment(byteLength: number): Segment {
    this.#allocatedBytes += byteLength;
    return { bytes: this.#codec.allocate(byteLength), writtenBytes: 0, usedBytes: 0, texts: [] };
  }

  /** Keeps one empty segment for new texts, and releases all others. */
  #recycle(segment: Segment): void {
    this.#fullSegments.splice(this.#fullSegments.indexOf(segment), 1);
    clearSegment(segment);
    if (this.#spareSegment) this.#allocatedBytes -= this.#segmentBytes;
    else this.#spareSegment = segment;
  }

  /**
   * Moves the texts of the emptiest segments to the current segment, until at least half of the space is used.
   * Each move frees more than half of a segment, so its cost is proportional to the size of the deleted texts.
   */
  #compact(): void {
    const segments = this.#fullSegments;
    while ((segments.length - 1) * this.#segmentBytes > 2 * this.#fullSegmentsUsedBytes) {
      const emptiest = segments.reduce((a, b) => (b.usedBytes < a.usedBytes ? b : a));
      this.#fullSegmentsUsedBytes -= emptiest.usedBytes;
      for (const text of emptiest.texts) {
        if (text.segment !== emptiest) continue;
        const { start } = text;
        const { bytes } = this.#allocate(text);
        bytes.set(emptiest.bytes.subarray(start, start + text.byteLength), text.start);
      }
      this.#recycle(emptiest);
    }
  }
}

function isSharedSize(byteLength: number, segmentBytes: number): boolean {
  return byteLength <= segmentBytes * MAX_SHARED_TEXT_SHARE;
}

function clearSegment(segment: Segment): void {
  segment.writtenBytes = 0;
  segment.usedBytes = 0;
  segment.texts = [];
}
