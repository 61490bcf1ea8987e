import { FrameAssembler, type FrameSplitter, type StreamFrame } from "./frame-splitter.ts";

/** A gRPC message begins with one byte for compression and four bytes for its length. */
const PREFIX_LENGTH = 5;

/** Splits the body of a gRPC call into messages. Each frame contains the prefix of its message. */
export class GrpcFrameSplitter implements FrameSplitter {
  readonly #assembler: FrameAssembler;
  #prefix = Buffer.alloc(0);

  constructor(maxBytes?: number) {
    this.#assembler = new FrameAssembler(maxBytes);
  }

  push(bytes: Buffer): StreamFrame[] {
    const frames: StreamFrame[] = [];
    let start = 0;
    while (start < bytes.length) {
      if (this.#prefix.length < PREFIX_LENGTH) {
        const part = bytes.subarray(start, start + PREFIX_LENGTH - this.#prefix.length);
        this.#prefix = Buffer.concat([this.#prefix, part]);
        start += part.length;
        // A message without content ends with its prefix.
        if (this.#prefix.length < PREFIX_LENGTH || this.#readMessageLength() > 0) {
          frames.push(...this.#assembler.append(part));
        } else frames.push(this.#endFrame(part));
        continue;
      }
      const missing = PREFIX_LENGTH + this.#readMessageLength() - this.#assembler.size;
      const part = bytes.subarray(start, start + missing);
      start += part.length;
      if (part.length < missing) frames.push(...this.#assembler.append(part));
      else frames.push(this.#endFrame(part));
    }
    return frames;
  }

  takeRest(): Buffer {
    return this.#assembler.takeRest();
  }

  #readMessageLength(): number {
    return this.#prefix.readUInt32BE(1);
  }

  #endFrame(bytes: Buffer): StreamFrame {
    this.#prefix = Buffer.alloc(0);
    return this.#assembler.complete(bytes, "event");
  }
}

/** Returns an uncompressed message with its prefix. */
export function prefixGrpcMessage(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_LENGTH);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Returns the message of a frame without its prefix, or `undefined` if the message is compressed. */
export function extractGrpcMessage(frame: Buffer): Buffer | undefined {
  return frame.length >= PREFIX_LENGTH && frame[0] === 0 ? frame.subarray(PREFIX_LENGTH) : undefined;
}
