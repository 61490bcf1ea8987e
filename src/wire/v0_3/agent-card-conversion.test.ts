import { describe, expect, it } from "vitest";
import type { AgentCard } from "../../protocol/index.ts";
import * as v1 from "../v1/index.ts";
import { decodeCard, protoJsonCodec, toCard03, toHybridCard } from "./index.ts";

const tokens = { tokenUrl: "https://auth.test/token", scopes: { read: "Reads." } };

const card: AgentCard = {
  name: "weather",
  description: "Knows the weather.",
  supportedInterfaces: [
    { url: "https://x.test/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    { url: "https://x.test/a2a", protocolBinding: "HTTP+JSON", protocolVersion: "0.3" },
  ],
  provider: { url: "https://x.test", organization: "X" },
  version: "2.1.0",
  documentationUrl: "https://x.test/docs",
  iconUrl: "https://x.test/icon.png",
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extendedAgentCard: true,
    extensions: [{ uri: "https://x.test/ext", description: "Adds.", required: true, params: { a: 1 } }],
  },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: "query", name: "key", description: "A key." } },
    bearer: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
    code: {
      oauth2SecurityScheme: {
        flows: { authorizationCode: { ...tokens, authorizationUrl: "https://auth.test/go" } },
        oauth2MetadataUrl: "https://auth.test/meta",
      },
    },
    machine: { oauth2SecurityScheme: { flows: { clientCredentials: tokens } } },
    implicit: {
      oauth2SecurityScheme: {
        flows: { implicit: { authorizationUrl: "https://auth.test/go", scopes: tokens.scopes } },
      },
    },
    password: { oauth2SecurityScheme: { flows: { password: tokens } } },
    oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://auth.test/oidc" } },
    mtls: { mtlsSecurityScheme: {} },
  },
  securityRequirements: [
    { schemes: { code: { list: ["read"] } } },
    { schemes: { key: { list: [] }, mtls: { list: [] } } },
  ],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain", "image/png"],
  skills: [
    {
      id: "now",
      name: "Now",
      description: "The weather now.",
      tags: ["weather"],
      examples: ["Rain?"],
      inputModes: ["text/plain"],
      outputModes: ["image/png"],
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    },
  ],
};

describe("an agent card of 0.3", () => {
  it("has the members that 0.3 requires [V-19, V-20, V-22]", () => {
    expect(toCard03(card)).toMatchObject({
      protocolVersion: "0.3.0",
      url: "https://x.test/a2a",
      preferredTransport: "JSONRPC",
      additionalInterfaces: [
        { url: "https://x.test/a2a", transport: "JSONRPC" },
        { url: "https://x.test/a2a", transport: "HTTP+JSON" },
      ],
      supportsAuthenticatedExtendedCard: true,
      security: [{ code: ["read"] }, { key: [], mtls: [] }],
      skills: [{ id: "now", security: [{ bearer: [] }] }],
      securitySchemes: {
        key: { type: "apiKey", in: "query", name: "key", description: "A key." },
        bearer: { type: "http", scheme: "Bearer", bearerFormat: "JWT" },
        code: {
          type: "oauth2",
          flows: { authorizationCode: { ...tokens, authorizationUrl: "https://auth.test/go" } },
          oauth2MetadataUrl: "https://auth.test/meta",
        },
        machine: { type: "oauth2", flows: { clientCredentials: tokens } },
        oidc: { type: "openIdConnect", openIdConnectUrl: "https://auth.test/oidc" },
        mtls: { type: "mutualTLS" },
      },
    });
    expect(toCard03(card)).not.toHaveProperty("supportedInterfaces");
    expect(toCard03(card).capabilities).not.toHaveProperty("extendedAgentCard");
  });

  it("is decoded to the same card [V-19, V-20]", () => {
    expect(decodeCard(JSON.parse(JSON.stringify(toCard03(card))))).toEqual(card);
    expect(toCard03(decodeCard(toCard03(card)))).toEqual(toCard03(card));
  });

  it("has only interfaces of 0.3 [V-22]", () => {
    const newer = { url: "https://x.test/new", protocolBinding: "JSONRPC", protocolVersion: "1.0" };
    const both = { ...card, supportedInterfaces: [newer, ...card.supportedInterfaces] };
    expect(toCard03(both)).toEqual(toCard03(card));
  });

  it("has the first of several OAuth flows, and no members unknown to 0.3 [V-20]", () => {
    const flows = { implicit: { authorizationUrl: "https://a.test", scopes: {} }, clientCredentials: tokens };
    const read = decodeCard({ ...toCard03(card), securitySchemes: { o: { type: "oauth2", flows } } });
    expect(read.securitySchemes).toEqual({
      o: { oauth2SecurityScheme: { flows: { clientCredentials: tokens } } },
    });
    const device = { deviceCode: { ...tokens, deviceAuthorizationUrl: "https://a.test" } };
    const code = { authorizationCode: { ...tokens, authorizationUrl: "https://a.test", pkceRequired: true } };
    for (const [flows, left] of [
      [device, {}],
      [code, { authorizationCode: { ...tokens, authorizationUrl: "https://a.test" } }],
    ] as const) {
      const written = toCard03({ ...card, securitySchemes: { o: { oauth2SecurityScheme: { flows } } } });
      expect(written.securitySchemes).toEqual({ o: { type: "oauth2", flows: left } });
    }
  });

  it("has no signatures, because they cover another text [V-19]", () => {
    const signed = { ...card, signatures: [{ protected: "p", signature: "s" }] };
    expect(toCard03(signed)).not.toHaveProperty("signatures");
    expect(toHybridCard(signed)).not.toHaveProperty("signatures");
  });

  it("is decoded with defaults for missing members [V-22]", () => {
    const read = decodeCard({ name: "old", url: "https://old.test", protocolVersion: "0.2.5" });
    expect(read).toMatchObject({
      name: "old",
      supportedInterfaces: [{ url: "https://old.test", protocolBinding: "JSONRPC", protocolVersion: "0.2" }],
      capabilities: {},
      skills: [],
    });
    expect(() => decodeCard({ name: "x", url: "u", securitySchemes: { s: { type: "smoke" } } })).toThrow(
      "type",
    );
  });
});

describe("a hybrid card", () => {
  it("is a valid card for readers of each version [B-10]", () => {
    const both: AgentCard = {
      ...card,
      supportedInterfaces: [
        { url: "https://x.test/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        ...card.supportedInterfaces,
      ],
    };
    const hybrid: unknown = JSON.parse(JSON.stringify(toHybridCard(both)));
    expect(v1.decodeCard(hybrid)).toEqual(v1.decodeCard(JSON.parse(JSON.stringify(both))));
    expect(decodeCard(hybrid)).toEqual(decodeCard(JSON.parse(JSON.stringify(toCard03(both)))));
  });
});

describe("an agent card of 0.3's proto", () => {
  it("has the security of 1.0 under the names of 0.3 [V-23, V-26]", () => {
    const proto: unknown = protoJsonCodec.toResultJson("GetExtendedAgentCard", card);
    expect(proto).toMatchObject({
      protocolVersion: "0.3.0",
      security: card.securityRequirements,
      skills: [{ security: [{ schemes: { bearer: { list: [] } } }] }],
      securitySchemes: { key: { apiKeySecurityScheme: { location: "query" } } },
    });
    expect(proto).not.toHaveProperty("securityRequirements");
    expect(protoJsonCodec.decodeResult("GetExtendedAgentCard", proto)).toEqual(card);
  });
});
