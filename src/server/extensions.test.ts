import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2AError } from "../protocol/index.ts";
import { activateExtensions, buildExtensionHeaders } from "./server-extensions.ts";

const createRequest = (headers: Record<string, string>): { header(name: string): string | undefined } => ({
  header: (name) => headers[name],
});
const POLITE_URI = "urn:x:polite/v1";
const LOUD_URI = "urn:x:loud";
const declaredExtensions = [{ uri: POLITE_URI }, { uri: LOUD_URI }];

describe("the extensions of a request", () => {
  it.each([
    ["is none when it asks for none", {}, []],
    [
      "is each that it asks for once, without the space around [J-01]",
      { "a2a-extensions": ` ${LOUD_URI},\t${POLITE_URI} , ${LOUD_URI},,` },
      [LOUD_URI, POLITE_URI],
    ],
    ["is none that the card does not have [J-02]", { "a2a-extensions": "urn:x:other" }, []],
    ["is none in another case [J-01]", { "a2a-extensions": "URN:x:loud" }, []],
    ["is no other version of one [J-03]", { "a2a-extensions": "urn:x:polite/v2, urn:x:polite" }, []],
    ["is none of the older header's", { "x-a2a-extensions": LOUD_URI }, []],
  ])("%s", (_, headers, active) => {
    expect(activateExtensions(declaredExtensions, createRequest(headers), "1.0")).toEqual(active);
  });

  it("use both headers in 0.3 requests, and the 0.3 header in replies [J-01, V-17]", () => {
    const request = createRequest({
      "x-a2a-extensions": LOUD_URI,
      "a2a-extensions": `${POLITE_URI}, ${LOUD_URI}`,
    });
    const active = activateExtensions(declaredExtensions, request, "0.3");
    expect(active).toEqual([LOUD_URI, POLITE_URI]);
    expect(buildExtensionHeaders(active, "0.3")).toEqual({
      "x-a2a-extensions": `${LOUD_URI}, ${POLITE_URI}`,
    });
  });

  it("are rejected with a hint when a required one is missing [H-04, J-03]", () => {
    const card = [{ uri: POLITE_URI, required: true }, { uri: LOUD_URI }];
    const refusal = (requested: string): unknown => {
      try {
        return activateExtensions(card, createRequest({ "a2a-extensions": requested }), "1.0");
      } catch (error) {
        return error;
      }
    };
    for (const requested of ["", LOUD_URI, "urn:x:polite/v2"]) {
      const error = refusal(requested) as A2AError;
      expect(error).toMatchObject({
        reason: "EXTENSION_SUPPORT_REQUIRED",
        metadata: { extensions: POLITE_URI },
      });
      expect(error.message).toContain(`send "a2a-extensions: ${POLITE_URI}"`);
    }
    expect(refusal(`${POLITE_URI}, urn:x:other`)).toEqual([POLITE_URI]);
  });

  it("are always both declared and requested [J-03, J-04]", () => {
    const uri = fc.constantFrom("urn:a", "urn:b", "urn:A", "urn:a/2", "urn:c");
    fc.assert(
      fc.property(fc.array(uri), fc.array(uri), (have, ask) => {
        const request = createRequest({ "a2a-extensions": ask.join(" , ") });
        const active = activateExtensions(
          have.map((one) => ({ uri: one })),
          request,
          "1.0",
        );
        expect(active).toEqual([...new Set(ask)].filter((one) => have.includes(one)));
      }),
    );
  });
});
