import { FrameAssembler, type FrameSplitter, type StreamFrame } from "./frame-splitter.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;

/**
 * Splits a response of server-sent events after each blank line. A block in which all lines begin with a colon is a
 * comment. Lines end with CR, LF, or CRLF.
 */
export class SseFrameSplitter implements FrameSplitter {
  readonly #assembler: FrameAssembler;
  #lineLength = 0;
  #isAfterCarriageReturn = false;
  /** Whether a CR has ended a blank line, and the next byte can be the LF of this line end. */
  #isFrameEndPending = false;
  #hasField = false;

  constructor(maxBytes?: number) {
    this.#assembler = new FrameAssembler(maxBytes);
  }

  push(bytes: Buffer): StreamFrame[] {
    const frames: StreamFrame[] = [];
    let start = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (this.#isFrameEndPending) {
        const end = byte === LINE_FEED ? at + 1 : at;
        frames.push(this.#endFrame(bytes.subarray(start, end)));
        start = end;
        this.#isAfterCarriageReturn = false;
        if (byte === LINE_FEED) continue;
      }
      if (byte === LINE_FEED && this.#isAfterCarriageReturn) {
        this.#isAfterCarriageReturn = false;
        continue;
      }
      this.#isAfterCarriageReturn = byte === CARRIAGE_RETURN;
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
        if (this.#lineLength === 0 && byte !== COLON) this.#hasField = true;
        this.#lineLength++;
        continue;
      }
      const isBlank = this.#lineLength === 0;
      this.#lineLength = 0;
      if (!isBlank) continue;
      if (byte === CARRIAGE_RETURN) this.#isFrameEndPending = true;
      else {
        frames.push(this.#endFrame(bytes.subarray(start, at + 1)));
        start = at + 1;
      }
    }
    frames.push(...this.#assembler.append(bytes.subarray(start)));
    return frames;
  }

  takeRest(): Buffer {
    return this.#assembler.takeRest();
  }

  #endFrame(bytes: Buffer): StreamFrame {
    const frame = this.#assembler.complete(bytes, this.#hasField ? "event" : "comment");
    this.#hasField = false;
    this.#isFrameEndPending = false;
    return frame;
  }
}

/** The fields of a frame of server-sent events. */
export interface SseFrameFields {
  readonly id?: string;
  readonly data?: string;
  /** The text of the comments, if the frame has no data. */
  readonly comment?: string;
}

/** Parses the fields `id` and `data` of one frame (HTML §9.2.6). */
export function parseSseFrameFields(bytes: Buffer): SseFrameFields {
  const data: string[] = [];
  const comments: string[] = [];
  let id: string | undefined;
  for (const line of bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") data.push(value);
    else if (name === "id") id = value;
    else if (colon === 0) comments.push(value);
  }
  return {
    ...(id === undefined ? {} : { id }),
    ...(data.length > 0 ? { data: data.join("\n") } : { comment: comments.join("\n") }),
  };
}
