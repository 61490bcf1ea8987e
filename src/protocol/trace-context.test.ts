import { array, assert, constantFrom, integer, property, record, string, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../test/support/arbitrary-character.ts";
import {
  createChildContext,
  createRootContext,
  formatTraceparent,
  parseTraceContext,
  toTraceHeaders,
} from "./trace-context.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID = "00f067aa0ba902b7";

function hexId(length: number): ReturnType<typeof string> {
  return string({
    unit: constantFrom(...Array.from("0123456789abcdef")),
    minLength: length,
    maxLength: length,
  }).filter((id) => !/^0+$/.test(id));
}

describe("a trace context", () => {
  it("is what the headers state [E22]", () => {
    assert(
      property(
        record({ traceId: hexId(32), spanId: hexId(16), flags: constantFrom(0, 1, 2, 3) }),
        constantFrom(undefined, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        (ids, tracestate) => {
          const context = { ...ids, ...(tracestate === undefined ? {} : { tracestate }) };
          const headers = toTraceHeaders(context);
          expect(parseTraceContext(headers.traceparent, headers.tracestate)).toEqual(context);
        },
      ),
    );
  });

  it.each([
    ["no header", undefined],
    ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN_ID}-01`],
    ["a span id of zeros", `00-${TRACE_ID}-${"0".repeat(16)}-01`],
    ["capital letters", `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`],
    ["the forbidden version", `ff-${TRACE_ID}-${SPAN_ID}-01`],
    ["more than version 00 allows", `00-${TRACE_ID}-${SPAN_ID}-01-x`],
    ["two headers in one", `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`],
    ["a text of any length", "0".repeat(10_000)],
  ])("does not exist for %s", (_, header) => {
    expect(parseTraceContext(header)).toBeUndefined();
  });

  it("of a later version is read, and forwarded as version 00", () => {
    const context = parseTraceContext(`cc-${TRACE_ID}-${SPAN_ID}-ff-what-is-new`);
    expect(context).toEqual({ traceId: TRACE_ID, spanId: SPAN_ID, flags: 3 });
    expect(context && formatTraceparent(context)).toBe(`00-${TRACE_ID}-${SPAN_ID}-03`);
  });

  it.each([
    ["too long", "a=".padEnd(513, "x")],
    ["with control characters", "a=b\u0000"],
    ["empty", ""],
  ])("ignores a tracestate that is %s", (_, tracestate) => {
    expect(parseTraceContext(`00-${TRACE_ID}-${SPAN_ID}-01`, tracestate)).not.toHaveProperty("tracestate");
  });

  it("accepts no header that HTTP forbids, whatever a caller sends", () => {
    assert(
      property(
        tuple(string({ unit: arbitraryCharacter }), string({ unit: arbitraryCharacter })),
        ([traceparent, tracestate]) => {
          const context = parseTraceContext(traceparent, tracestate);
          if (context) expect(() => new Headers({ ...toTraceHeaders(context) })).not.toThrow();
        },
      ),
    );
  });

  it("of a child keeps the trace, the decision to sample, and the tracestate", () => {
    const parent = { traceId: TRACE_ID, spanId: SPAN_ID, flags: 1, tracestate: "a=b" };
    const child = createChildContext(parent, (bytes) => bytes.fill(0xab));
    expect(child).toEqual({ ...parent, spanId: "abababababababab" });
  });

  it("has valid ids, whatever the random bytes are", () => {
    assert(
      property(array(integer({ min: 0, max: 1 }), { minLength: 1 }), (bits) => {
        const context = createRootContext(true, (bytes) => bytes.fill(0).set(bits.slice(0, bytes.length)));
        expect(parseTraceContext(formatTraceparent(context))).toEqual(context);
      }),
    );
  });
});
