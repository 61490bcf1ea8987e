import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentCard } from "../../protocol/index.ts";
import { canonicalizeCard } from "../canonical-card/index.ts";
import { agentCardArbitrary } from "./agent-card-arbitrary.fixture.ts";
import { validateAgentCard } from "./validate-agent-card.ts";
import { decodeCard } from "./decode.ts";

const card: AgentCard = {
  name: "checked",
  description: "Is checked",
  version: "1.0.0",
  supportedInterfaces: [{ url: "https://a.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: {},
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "S", description: "d", tags: ["t"] }],
};
const skill = card.skills[0] as AgentCard["skills"][number];

describe("a valid agent card", () => {
  it("is decoded unchanged and passes every check [A-02, A-10, A-11, A-12]", () => {
    fc.assert(
      fc.property(agentCardArbitrary, (written) => {
        const json: unknown = JSON.parse(JSON.stringify(written));
        expect(decodeCard(json)).toEqual(json);
        expect(validateAgentCard(json, "strict")).toEqual([]);
        // The canonical form contains every member that is decoded.
        expect(decodeCard(JSON.parse(canonicalizeCard(json).specification))).toEqual(json);
      }),
    );
  });

  it("may lack members that have defaults, unless the check is strict [A-02]", () => {
    const sparse = { ...card, description: "", skills: [{ ...skill, tags: [] }] };
    expect(validateAgentCard(sparse)).toEqual([]);
    expect(validateAgentCard(sparse, "strict").map(({ field }) => field)).toEqual([
      "description",
      "skills[0].tags",
    ]);
  });
});

describe("an agent card", () => {
  const b = { httpAuthSecurityScheme: { scheme: "Bearer" } };
  it.each([
    ["no name", { name: " " }, "name", "must not be empty"],
    ["a name that is none", { name: 7 }, "name", "must be a string, not 7"],
    ["two skills of one id [A-11]", { skills: [skill, skill] }, "skills[1].id", '"s" is used more than once'],
    ["a skill without a name", { skills: [{ ...skill, name: "" }] }, "skills[0].name", "must not be empty"],
    [
      "a skill's mode that is none [A-11]",
      { skills: [{ ...skill, inputModes: ["a picture"] }] },
      "skills[0].inputModes[0]",
      'must be a media type such as "text/plain", not "a picture"',
    ],
    [
      "a URL that is none",
      { documentationUrl: "docs" },
      "documentationUrl",
      'must be an http or https URL, not "docs"',
    ],
    [
      "a URL of another kind",
      { iconUrl: "javascript:alert(1)" },
      "iconUrl",
      'must be an http or https URL, not "javascript:alert(1)"',
    ],
    [
      "a mode that is none",
      { defaultOutputModes: ["json"] },
      "defaultOutputModes[0]",
      'must be a media type such as "text/plain", not "json"',
    ],
    [
      "an extension without a URI [A-12]",
      { capabilities: { extensions: [{}] } },
      "capabilities.extensions[0].uri",
      'must be a URI without spaces and commas, not ""',
    ],
    [
      "an extension that can not stand in a list [A-12]",
      { capabilities: { extensions: [{ uri: "urn:a,b" }] } },
      "capabilities.extensions[0].uri",
      'must be a URI without spaces and commas, not "urn:a,b"',
    ],
    [
      "an extension twice [A-12]",
      { capabilities: { extensions: [{ uri: "urn:a" }, { uri: "urn:a" }] } },
      "capabilities.extensions[1].uri",
      '"urn:a" is used more than once',
    ],
    [
      "a scheme of no kind [A-10]",
      { securitySchemes: { b: { type: "http" } } },
      "securitySchemes.b",
      "must be exactly one of apiKeySecurityScheme,",
    ],
    [
      "a flow of no kind [A-10]",
      { securitySchemes: { b: { oauth2SecurityScheme: { flows: {} } } } },
      "securitySchemes.b.oauth2SecurityScheme.flows",
      "must be exactly one of authorizationCode,",
    ],
    [
      "a token URL that is none [A-10]",
      {
        securitySchemes: {
          b: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "/token" } } } },
        },
      },
      "securitySchemes.b.oauth2SecurityScheme.flows.clientCredentials.tokenUrl",
      'must be an http or https URL, not "/token"',
    ],
    [
      "an issuer that is none [A-10]",
      { securitySchemes: { b: { openIdConnectSecurityScheme: {} } } },
      "securitySchemes.b.openIdConnectSecurityScheme.openIdConnectUrl",
      "must not be empty",
    ],
    [
      "an undeclared requirement [A-10]",
      { securitySchemes: { b }, securityRequirements: [{ schemes: { b: {}, c: {} } }] },
      "securityRequirements[0].schemes.c",
      "is not among the card's securitySchemes",
    ],
    [
      "an undeclared requirement of a skill [A-10]",
      { skills: [{ ...skill, securityRequirements: [{ schemes: { b: {} } }] }] },
      "skills[0].securityRequirements[0].schemes.b",
      "is not among the card's securitySchemes",
    ],
  ])("with %s is reported", (_, wrong, field, description) => {
    const found = validateAgentCard({ ...card, ...wrong });
    expect(found.map((violation) => violation.field)).toEqual([field]);
    expect(found[0]?.description).toContain(description);
  });

  it("is reported with all violations at once, each only once", () => {
    const found = validateAgentCard({ ...card, name: "", iconUrl: "x", version: "" }, "strict");
    expect(found.map(({ field }) => field)).toEqual(["name", "version", "iconUrl"]);
    expect(validateAgentCard(undefined)).toHaveLength(1);
    expect(validateAgentCard([])).toHaveLength(1);
  });
});
