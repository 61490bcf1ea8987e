import { describe, expect, it } from "vitest";
import { A2AError, type SecurityRequirement, type SecurityScheme } from "../../protocol/index.ts";
import type { ClientAuthOptions } from "./client-auth.ts";
import { type AgentCardSecurity, planAuthentication } from "./auth-plan.ts";

const API_KEY: SecurityScheme = { apiKeySecurityScheme: { location: "header", name: "X-Key" } };
const BEARER: SecurityScheme = { httpAuthSecurityScheme: { scheme: "Bearer" } };
const BASIC: SecurityScheme = { httpAuthSecurityScheme: { scheme: "basic" } };
const DIGEST: SecurityScheme = { httpAuthSecurityScheme: { scheme: "Digest" } };
const MTLS: SecurityScheme = { mtlsSecurityScheme: {} };
const AUTHORIZATION_CODE: SecurityScheme = {
  oauth2SecurityScheme: {
    flows: { authorizationCode: { authorizationUrl: "https://l/a", tokenUrl: "https://l/t", scopes: {} } },
  },
};
const CLIENT_CREDENTIALS: SecurityScheme = {
  oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "https://l/t", scopes: {} } } },
};
const OIDC: SecurityScheme = { openIdConnectSecurityScheme: { openIdConnectUrl: "https://l" } };
const SCHEMES = {
  key: API_KEY,
  bearer: BEARER,
  basic: BASIC,
  digest: DIGEST,
  mtls: MTLS,
  person: AUTHORIZATION_CODE,
  machine: CLIENT_CREDENTIALS,
  oidc: OIDC,
};

type SchemeName = keyof typeof SCHEMES;

/** Creates a card with one requirement for each list of scheme names. */
function createCard(...alternatives: readonly (readonly SchemeName[])[]): AgentCardSecurity {
  const securityRequirements = alternatives.map((names): SecurityRequirement => {
    return { schemes: Object.fromEntries(names.map((name) => [name, { list: [`${name}:use`] }])) };
  });
  return { name: "Guarded", securitySchemes: SCHEMES, securityRequirements };
}

function catchAuthError(card: AgentCardSecurity, auth: ClientAuthOptions): A2AError {
  try {
    planAuthentication(card, auth);
  } catch (error) {
    if (error instanceof A2AError) return error;
  }
  throw new Error("it was not refused");
}

describe("the authentication plan", () => {
  it("satisfies the first possible requirement with all of its schemes [A-10]", () => {
    const expected = createCard(["digest"], ["key", "basic"], ["key"], ["bearer"]);
    expect(planAuthentication(expected, { apiKey: "k", bearer: "b" })).toEqual([
      { kind: "header", name: "X-Key", value: "k" },
    ]);
    expect(planAuthentication(expected, { apiKey: "k", basic: { username: "ü", password: "p:w" } })).toEqual([
      { kind: "header", name: "X-Key", value: "k" },
      { kind: "header", name: "authorization", value: `Basic ${Buffer.from("ü:p:w").toString("base64")}` },
    ]);
    expect(planAuthentication(expected, { bearer: "b" })).toEqual([{ kind: "bearer", token: "b" }]);
  });

  it("prefers credentials for a scheme name", () => {
    const auth = { apiKey: "any", schemeCredentials: { key: { apiKey: "own" } } };
    expect(planAuthentication(createCard(["key"]), auth)).toEqual([
      { kind: "header", name: "X-Key", value: "own" },
    ]);
    expect(
      planAuthentication(createCard(["key"]), { schemeCredentials: { key: { apiKey: "own" } } }),
    ).toHaveLength(1);
  });

  it("uses an OAuth client with the scopes of the card or its own, or an existing token", () => {
    const client = { id: "i", secret: "s" };
    expect(planAuthentication(createCard(["machine"]), { oauthClient: client })).toEqual([
      {
        kind: "token",
        oauthClient: client,
        endpointSource: { tokenUrl: "https://l/t" },
        scopes: ["machine:use"],
      },
    ]);
    expect(
      planAuthentication(createCard(["oidc"]), { oauthClient: { ...client, scopes: ["x"] } }),
    ).toMatchObject([{ endpointSource: { metadataUrl: "https://l" }, scopes: ["x"] }]);
    for (const name of ["person", "machine", "oidc"] as const) {
      expect(planAuthentication(createCard([name]), { bearer: "b" })).toEqual([
        { kind: "bearer", token: "b" },
      ]);
    }
  });

  it("sends credentials even if the card allows anonymous access", () => {
    expect(planAuthentication(createCard([], ["key"]), { apiKey: "k" })).toHaveLength(1);
    expect(planAuthentication(createCard([], ["key"]), { bearer: "b" })).toEqual([]);
  });

  it("satisfies any scheme of a card without requirements", () => {
    expect(
      planAuthentication(
        { ...createCard(), securitySchemes: { bearer: BEARER, key: API_KEY } },
        { apiKey: "k" },
      ),
    ).toEqual([{ kind: "header", name: "X-Key", value: "k" }]);
  });

  it("uses standard headers if the card declares no schemes", () => {
    const silent = { name: "Silent" };
    expect(planAuthentication(silent, { apiKey: "k", bearer: "b" })).toEqual([
      { kind: "header", name: "x-api-key", value: "k" },
      { kind: "bearer", token: "b" },
    ]);
    expect(planAuthentication(silent, { basic: { username: "u", password: "p" } })).toHaveLength(1);
  });

  it("rejects credentials that satisfy no requirement, and lists the alternatives", () => {
    const { reason, message } = catchAuthError(
      createCard(["digest"], ["mtls", "key"], ["person"], ["machine"]),
      {
        apiKey: "k",
      },
    );
    expect(reason).toBe("UNAUTHENTICATED");
    expect(message).toBe(
      `"Guarded" requires other credentials than those configured. It accepts ` +
        `"digest" (HTTP digest; set { auth } to a function that supports it), or ` +
        `"mtls" (a client certificate; set { fetch } to a function that presents one, and { auth: { mutualTls: true } }) and ` +
        `"key" (an API key as header "X-Key"; set { auth: { apiKey } }), or ` +
        `"person" (OAuth 2.0 with a user login; set { auth: { bearer } } to the user's token), or ` +
        `"machine" (OAuth 2.0; set { auth: { oauthClient: { id, secret } } }, or { auth: { bearer } } with your own token).`,
    );
  });

  it("rejects a scheme that the card does not define", () => {
    const unexplained = { name: "Guarded", securityRequirements: [{ schemes: { toString: { list: [] } } }] };
    expect(catchAuthError(unexplained, { apiKey: "k" }).message).toContain(
      `"toString" (which the card does not define`,
    );
  });

  it("rejects secrets that no header can hold, without revealing them", () => {
    const { reason, message, violations } = catchAuthError(createCard(["key"]), {
      apiKey: "s3cret\n",
      schemeCredentials: { key: { bearer: "s3cret " } },
    });
    expect(reason).toBe("INVALID_PARAMS");
    expect(violations.map(({ field }) => field)).toEqual([
      "auth.apiKey",
      "auth.schemeCredentials.key.bearer",
    ]);
    expect(message).not.toContain("s3cret");
  });
});
