import { array, assert, nat, property, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { RequestMessageDecoder } from "./request-message-decoder.ts";

function encodeFrame(message: Buffer, flag = 0, size = message.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag);
  prefix.writeUInt32BE(size, 1);
  return Buffer.concat([prefix, message]);
}

/** Cuts bytes at any positions. */
function cutBytes(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const offsets = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return offsets.slice(1).map((end, at) => bytes.subarray(offsets[at], end));
}

describe("a decoder of request messages", () => {
  it("returns the message for any division into chunks, and reserves its size once", () => {
    const roundTrip = property(
      uint8Array({ maxLength: 300 }),
      array(nat(), { maxLength: 20 }),
      (bytes, cuts) => {
        const reserved: number[] = [];
        const decoder = new RequestMessageDecoder(300, (size) => void reserved.push(size));
        for (const chunk of cutBytes(encodeFrame(Buffer.from(bytes)), cuts)) decoder.push(chunk);
        expect(Buffer.compare(decoder.finish(), bytes)).toBe(0);
        expect(reserved).toEqual([bytes.length]);
      },
    );
    assert(roundTrip, { numRuns: 300 });
  });

  it("stores nothing of a message that is refused", () => {
    const decoder = new RequestMessageDecoder(100, () => {
      throw new Error("refused");
    });
    expect(() => decoder.push(encodeFrame(Buffer.alloc(50)))).toThrow("refused");
    expect(() => decoder.finish()).toThrow("an incomplete request message");
  });

  it.each([
    ["PAYLOAD_TOO_LARGE", encodeFrame(Buffer.alloc(0), 0, 101)],
    ["METHOD_NOT_FOUND", encodeFrame(Buffer.alloc(10), 1)],
    ["INVALID_REQUEST", Buffer.concat([encodeFrame(Buffer.alloc(10)), encodeFrame(Buffer.alloc(1))])],
  ])("throws %s for a message that is too large, compressed, or followed by another", (reason, bytes) => {
    for (const cut of [1, 5, 6, bytes.length]) {
      const decoder = new RequestMessageDecoder(100, () => {});
      const pushAll = (): void => cutBytes(bytes, [cut]).forEach((chunk) => decoder.push(chunk));
      expect(pushAll).toThrow(expect.objectContaining({ reason }));
    }
  });

  it("refuses a message that arrives in thousands of tiny frames", () => {
    const decoder = new RequestMessageDecoder(10_000, () => {});
    decoder.push(encodeFrame(Buffer.alloc(0), 0, 10_000));
    let frames = 0;
    const pushTinyFrames = (): void => {
      for (; frames < 9_000; frames++) decoder.push(Buffer.alloc(1));
    };
    expect(pushTinyFrames).toThrow("tiny frames");
    expect(frames).toBeLessThan(1_100);
  });

  it("throws INVALID_REQUEST at the end of a stream without a complete message", () => {
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(4), encodeFrame(Buffer.alloc(10), 0, 11)]) {
      const decoder = new RequestMessageDecoder(100, () => {});
      decoder.push(bytes);
      expect(() => decoder.finish()).toThrow(expect.objectContaining({ reason: "INVALID_REQUEST" }));
    }
  });
});
