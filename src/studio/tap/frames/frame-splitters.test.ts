import { createParser } from "eventsource-parser";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FrameSplitter, StreamFrame } from "./frame-splitter.ts";
import { extractGrpcMessage, GrpcFrameSplitter } from "./grpc-frame-splitter.ts";
import { parseSseFrameFields, SseFrameSplitter } from "./sse-frame-splitter.ts";

/** Splits bytes at the given positions. */
function cutBytes(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const sorted = [...new Set(positions.map((position) => position % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [...sorted, bytes.length].map((end, at) => bytes.subarray(sorted[at - 1] ?? 0, end));
}

function splitAll(
  splitter: FrameSplitter,
  chunks: readonly Buffer[],
): { frames: StreamFrame[]; rest: Buffer } {
  const frames = chunks.flatMap((chunk) => splitter.push(chunk));
  return { frames, rest: splitter.takeRest() };
}

const positions = fc.array(fc.nat(), { maxLength: 8 });
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const field = fc.oneof(
  fc.string().map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
  fc.string().map((text) => `: ${text.replaceAll(/[\r\n]/g, "")}`),
  fc.nat().map((id) => `id: ${id}`),
  fc.constantFrom("event: error", "retry: 5", "data", ":"),
);
const sseText = fc
  .array(fc.tuple(fc.array(field, { minLength: 1, maxLength: 4 }), lineEnd), { maxLength: 6 })
  .map((blocks) => blocks.map(([fields, end]) => `${fields.join(end)}${end}${end}`).join(""));

describe("the splitter of server-sent events", () => {
  it("keeps all bytes, for any text and any chunks", () => {
    fc.assert(
      fc.property(fc.oneof(sseText, fc.string()), positions, (text, cuts) => {
        const bytes = Buffer.from(text);
        const { frames, rest } = splitAll(new SseFrameSplitter(), cutBytes(bytes, cuts));
        expect(Buffer.concat([...frames.map((frame) => frame.bytes), rest]).equals(bytes)).toBe(true);
      }),
    );
  });

  it("finds the same events as a parser of server-sent events", () => {
    fc.assert(
      fc.property(sseText, positions, (text, cuts) => {
        const expected: string[] = [];
        const parser = createParser({ onEvent: ({ data }) => expected.push(data) });
        parser.feed(text);
        parser.feed("\n");
        const { frames, rest } = splitAll(new SseFrameSplitter(), cutBytes(Buffer.from(text), cuts));
        // Only the LF of a final CR LF can show that a frame is complete.
        const found = [...frames.map(({ bytes }) => bytes), rest].flatMap(
          (bytes) => parseSseFrameFields(bytes).data ?? [],
        );
        expect(found).toEqual(expected);
      }),
    );
  });

  it("distinguishes comments from events", () => {
    const { frames } = splitAll(new SseFrameSplitter(), [Buffer.from(": ping\n\nid: 7\ndata: {}\n\n")]);
    expect(frames.map(({ kind }) => kind)).toEqual(["comment", "event"]);
    expect(frames.map(({ bytes }) => parseSseFrameFields(bytes))).toEqual([
      { comment: "ping" },
      { id: "7", data: "{}" },
    ]);
  });

  it("returns an event beyond the limit in pieces, and then continues", () => {
    const splitter = new SseFrameSplitter(100);
    const long = `data: ${"x".repeat(300)}\n\n`;
    const chunks = cutBytes(Buffer.from(`${long}data: 1\n\n`), [50, 120, 200, 290]);
    const { frames } = splitAll(splitter, chunks);
    expect(frames.filter(({ isComplete }) => isComplete).map(({ kind, size }) => [kind, size])).toEqual([
      ["oversized", long.length],
      ["event", 9],
    ]);
    expect(Buffer.concat(frames.map(({ bytes }) => bytes)).toString()).toBe(`${long}data: 1\n\n`);
  });
});

describe("the splitter of gRPC messages", () => {
  it("returns each message, for any chunks", () => {
    const message = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), positions, (messages, cuts) => {
        const framed = messages.map((content) => {
          const prefix = Buffer.alloc(5);
          prefix.writeUInt32BE(content.length, 1);
          return Buffer.concat([prefix, content]);
        });
        const { frames, rest } = splitAll(new GrpcFrameSplitter(), cutBytes(Buffer.concat(framed), cuts));
        expect(frames.map(({ bytes }) => bytes.toString("hex"))).toEqual(
          framed.map((one) => one.toString("hex")),
        );
        expect(frames.map(({ bytes }) => extractGrpcMessage(bytes)?.toString("hex"))).toEqual(
          messages.map((content) => Buffer.from(content).toString("hex")),
        );
        expect(rest).toHaveLength(0);
      }),
    );
  });
});
