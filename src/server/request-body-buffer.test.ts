import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RequestBodyBuffer } from "./request-body.ts";

describe("RequestBodyBuffer", () => {
  it("returns the bytes of all chunks in order, whether it keeps or copies a chunk", () => {
    const size = fc.oneof(fc.nat(10), fc.nat(70_000), fc.constantFrom(32_767, 32_768, 65_536));
    fc.assert(
      fc.property(fc.array(size, { maxLength: 12 }), (sizes) => {
        const chunks = sizes.map((length, at) => Buffer.alloc(length, at + 1));
        const buffer = new RequestBodyBuffer(2 ** 20, undefined);
        for (const chunk of chunks) buffer.add(chunk);
        expect(Buffer.concat(chunks).equals(buffer.toBytes())).toBe(true);
      }),
    );
  });
});
