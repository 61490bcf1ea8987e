import { describe, expect, it } from "vitest";
import type { SecurityScheme } from "../../../protocol/index.ts";
import { AgentCredentialStore, listSignInSchemes } from "./index.ts";

const SECURITY_SCHEMES: Record<string, SecurityScheme> = {
  key: { apiKeySecurityScheme: { location: "header", name: "x-key", description: "From the portal." } },
  token: { httpAuthSecurityScheme: { scheme: "Bearer" } },
  password: { httpAuthSecurityScheme: { scheme: "basic" } },
  machine: {
    oauth2SecurityScheme: {
      flows: { clientCredentials: { tokenUrl: "https://issuer.example/token", scopes: {} } },
    },
  },
  device: {
    oauth2SecurityScheme: {
      flows: {
        deviceCode: {
          deviceAuthorizationUrl: "https://issuer.example/device",
          tokenUrl: "https://issuer.example/token",
          scopes: {},
        },
      },
    },
  },
  openid: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://issuer.example" } },
  certificate: { mtlsSecurityScheme: {} },
};

const offered = listSignInSchemes({ securitySchemes: SECURITY_SCHEMES });

/** Stores the values of one scheme, and returns the resulting option of `connect`. */
function signIn(scheme: string, values: Record<string, string>): unknown {
  const store = new AgentCredentialStore();
  store.setCredentials("agent", offered, { scheme, values });
  return store.createClientAuth("agent");
}

describe("the sign-in forms of a card", () => {
  it("have a kind and fields for each declared scheme", () => {
    expect(offered.map(({ scheme, kind, fields }) => [scheme, kind, fields.map(({ name }) => name)])).toEqual(
      [
        ["key", "api-key", ["apiKey"]],
        ["token", "bearer", ["token"]],
        ["password", "basic", ["username", "password"]],
        ["machine", "oauth-client-credentials", ["clientId", "clientSecret", "issuer", "token"]],
        ["device", "bearer", ["token"]],
        ["openid", "oauth-client-credentials", ["clientId", "clientSecret", "issuer", "token"]],
        ["certificate", "unsupported", []],
      ],
    );
    expect(offered[0]?.description).toBe("From the portal.");
  });

  it("begin with the required schemes", () => {
    const schemes = listSignInSchemes({
      securitySchemes: SECURITY_SCHEMES,
      securityRequirements: [{ schemes: { machine: { list: [] } } }, { schemes: { toString: { list: [] } } }],
    });
    expect(schemes.slice(0, 2).map(({ scheme }) => scheme)).toEqual(["machine", "key"]);
    expect(schemes).toHaveLength(offered.length);
  });

  it("never fail, whatever the agent sends as its card", () => {
    for (const value of [null, 1, "x", [null], { a: null }, { a: { oauth2SecurityScheme: { flows: 1 } } }])
      for (const requirements of [undefined, [null], [{ schemes: 1 }], value])
        expect(() =>
          listSignInSchemes({ securitySchemes: value, securityRequirements: requirements }),
        ).not.toThrow();
  });

  it("offer a bearer token for the schemes in the cards of @a2a-js/sdk 1.3", () => {
    const scheme = { $case: "httpAuthSecurityScheme", value: { scheme: "bearer" } };
    const [form] = listSignInSchemes({ securitySchemes: { token: { scheme } } });
    expect([form?.scheme, form?.kind]).toEqual(["token", "bearer"]);
  });

  it("use standard headers if the card is unknown or declares no scheme", () => {
    for (const card of [undefined, {}])
      expect(listSignInSchemes(card).map(({ scheme }) => scheme)).toEqual([
        "standard:bearer",
        "standard:api-key",
        "standard:basic",
      ]);
  });
});

describe("entered credentials", () => {
  it("belong to the scheme for which the user entered them", () => {
    expect(signIn("key", { apiKey: " k-1\n" })).toEqual({ schemeCredentials: { key: { apiKey: "k-1" } } });
    expect(signIn("password", { username: "ada", password: " p " })).toEqual({
      schemeCredentials: { password: { basic: { username: "ada", password: " p " } } },
    });
    expect(signIn("machine", { clientId: "c", clientSecret: "s", issuer: "" })).toEqual({
      schemeCredentials: { machine: { oauthClient: { id: "c", secret: "s" } } },
    });
    expect(signIn("openid", { token: "t" })).toEqual({ schemeCredentials: { openid: { bearer: "t" } } });
  });

  it("are sent in standard headers if no card declares their scheme", () => {
    const store = new AgentCredentialStore();
    store.setCredentials("agent", listSignInSchemes(undefined), {
      scheme: "standard:bearer",
      values: { token: "t" },
    });
    expect(store.createClientAuth("agent")).toEqual({ bearer: "t", schemeCredentials: {} });
    expect(store.createClientAuth("another agent")).toBeUndefined();
  });

  it("are deleted together", () => {
    const store = new AgentCredentialStore();
    store.setCredentials("agent", offered, { scheme: "key", values: { apiKey: "k" } });
    store.setCredentials("agent", offered, { scheme: "token", values: { token: "t" } });
    expect(store.listSchemeNames("agent")).toEqual(["key", "token"]);
    store.deleteCredentials("agent");
    expect([store.listSchemeNames("agent"), store.createClientAuth("agent")]).toEqual([[], undefined]);
  });

  it.each([
    ["key", {}, "values.apiKey: must not be empty"],
    ["key", { apiKey: "k", constructor: "x" }, "values.constructor: is not a field of this scheme"],
    ["machine", { clientId: "c" }, "values.clientSecret: must not be empty"],
    ["certificate", {}, "scheme: is not supported by the console; use colloquy send with its own options"],
    ["toString", {}, 'scheme: must be one of "key", "token", "password"'],
  ] as [string, Record<string, string>, string][])(
    "of the scheme %s with %o are refused",
    (scheme, values, message) => {
      expect(() => signIn(scheme, values)).toThrow(message);
    },
  );

  it("never appear in an error", () => {
    const secret = "s3cret".repeat(4000);
    let message = "";
    try {
      signIn("key", { apiKey: secret });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toBe("values.apiKey: is longer than 16384 characters");
  });
});
