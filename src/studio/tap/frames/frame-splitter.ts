/**
 * A frame of a streaming response, with its exact bytes. A frame that is longer than the limit of its splitter arrives
 * in pieces of the kind `oversized`.
 */
export interface StreamFrame {
  readonly kind: "event" | "comment" | "oversized";
  readonly bytes: Buffer;
  /** Whether `bytes` ends the frame. Always true, except for pieces of an oversized frame. */
  readonly isComplete: boolean;
  /** Number of bytes of the frame so far, including these bytes. */
  readonly size: number;
}

/** Splits the bytes of a streaming response into frames. The bytes may be split at any byte. */
export interface FrameSplitter {
  /** Returns the frames that the bytes complete. The frames contain all bytes, in order, without changes. */
  push(bytes: Buffer): StreamFrame[];
  /** Returns the bytes after the last complete frame. */
  takeRest(): Buffer;
}

/** Maximum size of a frame in bytes that a splitter holds. */
export const MAX_HELD_FRAME_BYTES: number = 4 * 2 ** 20;

/** Collects the bytes of the current frame up to a limit, for splitters that find the end of a frame. */
export class FrameAssembler {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #size = 0;
  #isOversized = false;

  constructor(maxBytes: number = MAX_HELD_FRAME_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Number of bytes of the current frame. */
  get size(): number {
    return this.#size;
  }

  /** Adds bytes that do not end the frame. Returns pieces of an oversized frame. */
  append(bytes: Buffer): StreamFrame[] {
    if (bytes.length === 0) return [];
    this.#size += bytes.length;
    this.#pieces.push(bytes);
    if (this.#size <= this.#maxBytes && !this.#isOversized) return [];
    this.#isOversized = true;
    return [this.#takeFrame("oversized", false)];
  }

  /** Adds the bytes that end the frame. */
  complete(bytes: Buffer, kind: "event" | "comment"): StreamFrame {
    this.#size += bytes.length;
    this.#pieces.push(bytes);
    const frame = this.#takeFrame(this.#isOversized ? "oversized" : kind, true);
    this.#size = 0;
    this.#isOversized = false;
    return frame;
  }

  takeRest(): Buffer {
    const rest = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#size = 0;
    return rest;
  }

  #takeFrame(kind: StreamFrame["kind"], isComplete: boolean): StreamFrame {
    const [first] = this.#pieces;
    const bytes = first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    return { kind, bytes, isComplete, size: this.#size };
  }
}
