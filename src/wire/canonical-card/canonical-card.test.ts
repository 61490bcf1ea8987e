import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { canonicalizeAgentCard, type AgentCard as OfficialCard } from "@a2a-js/sdk";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalizeCard } from "./canonical-card.ts";
import { agentCardArbitrary } from "../v1/agent-card-arbitrary.fixture.ts";
import { decodeCard } from "../v1/decode.ts";

const signatureVector = JSON.parse(
  readFileSync(new URL("../../../test/vectors/agent-card.json", import.meta.url), "utf8"),
) as { card: object; payload: string; sha256: string };

const card = {
  name: "Example Agent",
  description: "Helps",
  version: "1.0.0",
  supportedInterfaces: [{ url: "https://a.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: {},
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "S", description: "d", tags: ["t"] }],
};
const canonicalizeWith = (more: object): Record<string, unknown> =>
  JSON.parse(canonicalizeCard({ ...card, ...more }).specification) as Record<string, unknown>;

describe("the canonical form of an agent card", () => {
  it("equals the test vector byte for byte [A-41, A-42, A-43]", () => {
    const { specification } = canonicalizeCard(signatureVector.card);
    expect(specification).toBe(signatureVector.payload);
    expect(createHash("sha256").update(specification).digest("hex")).toBe(signatureVector.sha256);
  });

  it("equals the specification's example [A-41]", () => {
    const fragment = {
      name: "Example Agent",
      description: "",
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      skills: [],
    };
    const { specification } = canonicalizeCard({ ...card, ...fragment });
    expect(specification).toContain('{"capabilities":{"pushNotifications":false,"streaming":false},"default');
    expect(specification).toContain('"description":"","name":"Example Agent","skills":[]');
  });

  it.each([
    [
      "keeps optional members that are set, to whatever",
      { iconUrl: "", documentationUrl: "" },
      { iconUrl: "", documentationUrl: "" },
    ],
    ["leaves out optional members that are not set", { iconUrl: null }, {}],
    [
      "keeps required members that are empty",
      { description: "", defaultInputModes: [], skills: [] },
      { description: "", defaultInputModes: [], skills: [] },
    ],
    [
      "leaves out every other empty value",
      { securitySchemes: {}, securityRequirements: [], signatures: [] },
      {},
    ],
    [
      "keeps messages that are set and empty",
      { securitySchemes: { m: { mtlsSecurityScheme: {} } } },
      { securitySchemes: { m: { mtlsSecurityScheme: {} } } },
    ],
    [
      "keeps a scheme that is required without scopes",
      { securityRequirements: [{ schemes: { b: { list: [] } } }, { schemes: {} }] },
      { securityRequirements: [{ schemes: { b: {} } }, {}] },
    ],
    [
      "keeps a location of a key that is none",
      { securitySchemes: { k: { apiKeySecurityScheme: { location: "Head", name: "k" } } } },
      { securitySchemes: { k: { apiKeySecurityScheme: { location: "Head", name: "k" } } } },
    ],
    ["has no signatures", { signatures: [{ protected: "a", signature: "b" }] }, {}],
    [
      "has the names of the proto's JSON, whichever the card has",
      { icon_url: "https://a.example/i" },
      { iconUrl: "https://a.example/i" },
    ],
    ["omits members of other versions", { url: "https://a.example", preferredTransport: "JSONRPC" }, {}],
  ])("%s [A-41]", (_, more, expected) => {
    expect(canonicalizeWith(more)).toEqual({ ...card, ...expected });
  });

  it("keeps the content of params unchanged [A-43]", () => {
    const params = { empty: "", no: false, nil: null, list: [], object: { of: {} } };
    const capabilities = { extensions: [{ uri: "urn:x", required: false, description: "", params }] };
    expect(canonicalizeWith({ capabilities })["capabilities"]).toEqual({
      extensions: [{ uri: "urn:x", params }],
    });
  });

  it("does not depend on the order of members, and is idempotent [A-42]", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const capabilities = { extensions: [{ uri: "urn:x", params: { value } }] };
        const one = canonicalizeCard({ ...card, capabilities });
        const reversed = Object.fromEntries(Object.entries({ ...card, capabilities }).toReversed());
        expect(canonicalizeCard(reversed)).toEqual(one);
        expect(canonicalizeCard(JSON.parse(one.specification)).specification).toBe(one.specification);
      }),
    );
  });

  describe("of any card", () => {
    const anyCard = fc.tuple(agentCardArbitrary, fc.array(fc.nat(20))).map(([card, cuts]) => {
      let at = 0;
      return JSON.parse(JSON.stringify(card), (_, value: unknown) => {
        if (!cuts.includes(at++ % 20)) return value;
        if (typeof value === "string") return "";
        return Array.isArray(value) ? [] : value;
      }) as OfficialCard;
    });

    it("includes every member that a reader decodes [A-41]", () => {
      fc.assert(
        fc.property(anyCard, (json) => {
          const signed: unknown = JSON.parse(canonicalizeCard(json).specification);
          expect(decodeCard(signed)).toEqual(decodeCard(json));
        }),
      );
    });

    it("in its SDK variant equals the form of the official SDK, except for members named __proto__ [A-46]", () => {
      const isKeptBySdk = (json: OfficialCard): boolean => !JSON.stringify(json).includes('"__proto__":');
      fc.assert(
        fc.property(anyCard.filter(isKeptBySdk), (json) => {
          expect(canonicalizeCard(json).sdk).toBe(canonicalizeAgentCard(json));
        }),
      );
    });
  });

  it("signs a member named __proto__, which the official SDK leaves unsigned [A-41]", () => {
    const params = JSON.parse('{ "a": { "__proto__": ["b"] } }') as object;
    const json = {
      ...card,
      capabilities: { extensions: [{ uri: "urn:x", params }] },
    } as unknown as OfficialCard;
    expect(canonicalizeCard(json).specification).toContain('"params":{"a":{"__proto__":["b"]}}');
    expect(canonicalizeAgentCard(json)).not.toContain("__proto__");
  });

  it("equals its SDK variant for a card without empty values [A-46]", () => {
    const { specification, sdk } = canonicalizeCard({ ...card, capabilities: { streaming: false } });
    expect(sdk).toBe(specification);
  });
});
