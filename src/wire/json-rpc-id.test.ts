import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeJsonRpcRequest, encodeJsonRpcResult } from "./json-rpc.ts";

/** Returns the id of the response to a request, as JSON text. */
function roundTripId(body: string): string | undefined {
  const { id } = decodeJsonRpcRequest(body);
  return /^\{"jsonrpc":"2\.0","id":(.*),"result":\{\}\}$/.exec(encodeJsonRpcResult(id, "{}"))?.[1];
}

const PLACEMENTS: readonly ((id: string) => string)[] = [
  (id) => `{"jsonrpc":"2.0","id":${id},"method":"GetTask","params":{"id":1}}`,
  (id) => ` { "id" : ${id} , "method":"GetTask","jsonrpc":"2.0"}\n`,
  (id) => `{"method":"GetTask","jsonrpc":"2.0","params":{"id":1,"x":[{"id":2}]},"id":${id}}`,
  (id) =>
    `{"method":"GetTask","params":{"text":"\\\\\\"id\\":1}"},\n"id"\t: ${id}\r\n,"jsonrpc":"2.0","more":{"id":3}}`,
  (id) => `{"a\\"id":4,"jsonrpc":"2.0","params":{"id":[5]},"id":${id},"method":"GetTask"}`,
];

describe("the id of a JSON-RPC request", () => {
  it.each([
    "12345678901234567890",
    "9007199254740993",
    "1.0",
    "1e3",
    "1E+3",
    "-0",
    "0.1234567890123456789012345",
    "1e400",
    "7",
    "-7.5",
    '"a"',
    '"\\"id\\":1"',
    "null",
  ])("%s is the id of the response, wherever the request has it [C-04]", (id) => {
    for (const place of PLACEMENTS) expect(roundTripId(place(id))).toBe(id);
  });

  it("is the same number with arbitrary digits, fractions, and exponents [C-04]", () => {
    const token = fc
      .tuple(
        fc.boolean(),
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        fc.option(fc.stringMatching(/^\d{1,20}$/)),
        fc.option(fc.stringMatching(/^[eE][+-]?\d{1,3}$/)),
      )
      .map(([sign, whole, fraction, exponent]) =>
        [sign ? "-" : "", whole, fraction === null ? "" : `.${fraction}`, exponent ?? ""].join(""),
      );
    fc.assert(
      fc.property(token, fc.constantFrom(...PLACEMENTS), fc.json(), (id, place, json) => {
        const body = place(id).replace('"jsonrpc":"2.0"', (member) => `${member},"other":${json}`);
        expect(roundTripId(body)).toBe(id);
      }),
    );
  });

  it("has at most 256 characters, because each event of a stream repeats the id", () => {
    const ids = [`"${"a".repeat(257)}"`, "1".repeat(257)];
    for (const id of ids)
      for (const place of PLACEMENTS) expect(() => roundTripId(place(id))).toThrow("at most 256 characters");
    expect(roundTripId((PLACEMENTS[0] as (id: string) => string)("1".repeat(256)))).toBe("1".repeat(256));
  });
});
