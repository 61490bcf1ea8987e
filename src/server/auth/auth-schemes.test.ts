import { createHash, scryptSync } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import { A2AError } from "../../protocol/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import { AuthChallengeError, Authenticator } from "./authenticator.ts";
import {
  AuthTestServer,
  buildBasicAuthTestHeaders,
  buildBearerAuthTestHeaders,
} from "./auth-test-server.fixture.ts";
import type { AuthenticateFunction } from "./auth-scheme.ts";
import {
  apiKeys,
  basic,
  bearer,
  custom,
  hashPassword,
  jwt,
  mtls,
  generateApiKey,
  oauth2,
  openIdConnect,
} from "./index.ts";

const ADA_TOKEN = "ada-has-a-long-token-0001";
const BOB_TOKEN = "bob-has-a-long-token-0002";
const EMPTY_JWKS = { keys: [] };

async function readErrorResponse(response: Response): Promise<unknown[]> {
  return [response.status, response.headers.get("www-authenticate"), await response.text()];
}

describe("bearer tokens", () => {
  it("authenticate their caller, in both bindings [M-01]", async () => {
    const grants = {
      [ADA_TOKEN]: "ada",
      [BOB_TOKEN]: { principal: "bob", tenant: "acme", scopes: ["read"] },
    };
    await using server = await AuthTestServer.start(bearer({ tokens: grants }));
    expect(await server.fetchListTasksStatus(buildBearerAuthTestHeaders(ADA_TOKEN))).toBe(200);
    expect(await server.fetchListTasksStatus({ authorization: `bEARER   ${ADA_TOKEN}` })).toBe(200);
    expect(await server.fetchCallerSeenByAgent(buildBearerAuthTestHeaders(ADA_TOKEN))).toEqual({
      tenant: "",
      principal: "ada",
    });
    expect(await server.fetchCallerSeenByAgent(buildBearerAuthTestHeaders(BOB_TOKEN))).toEqual({
      tenant: "acme",
      principal: "bob",
      scopes: ["read"],
    });
  });

  it("are rejected with the same message and a challenge when they are missing or invalid [M-01, M-11] [SEC-03]", async () => {
    await using server = await AuthTestServer.start(bearer({ tokens: { [ADA_TOKEN]: "ada" } }));
    const [status, challenge, body] = await readErrorResponse(await server.listTasks());
    expect([status, challenge]).toEqual([401, `Bearer realm="a2a"`]);
    const invalid = [401, `Bearer realm="a2a", error="invalid_token"`, body];
    const wrong = [
      ADA_TOKEN.slice(0, -1),
      `${ADA_TOKEN}x`,
      ADA_TOKEN.toUpperCase(),
      "",
      "a b",
      `${ADA_TOKEN}, Bearer ${ADA_TOKEN}`,
      "💥".repeat(9),
      "x".repeat(9000),
    ];
    for (const token of wrong) {
      const sent = Buffer.from(token).toString("latin1");
      expect(await readErrorResponse(await server.listTasks(buildBearerAuthTestHeaders(sent)))).toEqual(
        invalid,
      );
    }
    for (const header of ["", "Basic YTpi", ADA_TOKEN, `Bearerx ${ADA_TOKEN}`, "Digest"]) {
      expect(await readErrorResponse(await server.listTasks({ authorization: header }))).toEqual([
        401,
        challenge,
        body,
      ]);
    }
  });

  it("are rejected in JSON-RPC with a JSON-RPC error and the same status [M-11]", async () => {
    await using server = await AuthTestServer.start(bearer({ tokens: { [ADA_TOKEN]: "ada" } }));
    const response = await server.sendJsonRpc("ListTasks", {}, buildBearerAuthTestHeaders("wrong"));
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([
      401,
      `Bearer realm="a2a", error="invalid_token"`,
    ]);
    expect(await response.json()).toMatchObject({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32000, data: [{ reason: "UNAUTHENTICATED" }] },
    });
  });

  it("can be verified by a custom function", async () => {
    const verify = (token: string): { tenant: string; principal: string } | undefined =>
      token === "t" ? { tenant: "", principal: "ada" } : undefined;
    for (const each of [verify, (token: string) => Promise.resolve(verify(token))]) {
      await using server = await AuthTestServer.start(bearer({ verifyToken: each }));
      expect([
        await server.fetchListTasksStatus(buildBearerAuthTestHeaders("t")),
        await server.fetchListTasksStatus(buildBearerAuthTestHeaders("u")),
      ]).toEqual([200, 401]);
    }
  });

  it("require a minimum length, and must not be the text of an unset variable", () => {
    for (const token of ["", "short", "has spaces in it, sixteen"]) {
      expect(() => bearer({ tokens: { [token]: "ada" } })).toThrow("at least 16 characters");
    }
    expect(() => bearer({ tokens: { [String(undefined)]: "ada" } })).toThrow("set the environment variable");
    expect(() => bearer({ tokens: { [ADA_TOKEN]: "" } })).toThrow("require a principal");
    expect(() => bearer({})).toThrow(`"tokens" or "verifyToken"`);
  });

  it("without a required scope return 403 and name the scope, in both bindings [M-02, M-11]", async () => {
    const tokens = { [ADA_TOKEN]: { principal: "ada", scopes: ["agent:use", "x"] }, [BOB_TOKEN]: "bob" };
    await using server = await AuthTestServer.start(bearer({ tokens, requiredScopes: ["agent:use"] }));
    expect(await server.fetchListTasksStatus(buildBearerAuthTestHeaders(ADA_TOKEN))).toBe(200);
    const rest = await server.listTasks(buildBearerAuthTestHeaders(BOB_TOKEN));
    const challenge = `Bearer realm="a2a", error="insufficient_scope", scope="agent:use"`;
    expect([rest.status, rest.headers.get("www-authenticate")]).toEqual([403, challenge]);
    expect(await rest.json()).toMatchObject({ error: { status: "PERMISSION_DENIED" } });
    const rpc = await server.sendJsonRpc("ListTasks", {}, buildBearerAuthTestHeaders(BOB_TOKEN));
    expect([rpc.status, rpc.headers.get("www-authenticate")]).toEqual([403, challenge]);
    expect(await rpc.json()).toMatchObject({
      error: { code: -32000, data: [{ reason: "PERMISSION_DENIED" }] },
    });
    expect((await server.fetchCard()).securityRequirements).toEqual([
      { schemes: { bearer: { list: ["agent:use"] } } },
    ]);
  });

  it("have scopes that are valid in a header", () => {
    for (const scope of ['a"b', "a b", "a\r\nb", "a\\b", ""]) {
      expect(() => bearer({ tokens: { [ADA_TOKEN]: "ada" }, requiredScopes: [scope] })).toThrow(
        "is not valid; use visible ASCII",
      );
    }
  });
});

describe("API keys", () => {
  it("are stored only as a digest [SEC-04]", () => {
    const { key, storedKey: stored } = generateApiKey({ principal: "ada", tenant: "acme", scopes: ["read"] });
    expect(key).toMatch(/^clq_[0-9a-f]{12}_[\w-]{43}$/);
    expect(stored).toEqual({
      id: key.slice(4, 16),
      hash: `sha256:${createHash("sha256").update(key).digest("base64url")}`,
      principal: "ada",
      tenant: "acme",
      scopes: ["read"],
    });
    expect(generateApiKey("ada").key).not.toBe(generateApiKey("ada").key);
  });

  it.each([
    ["header", "X-API-Key", (key: string) => [{ "x-api-key": key }]],
    ["query", "api_key", (key: string) => [{}, `?api_key=${key}`]],
    ["cookie", "agent-key", (key: string) => [{ cookie: `a=b; agent-key=${key}; c=d` }]],
  ] as const)("may stand in the %s [M-01]", async (location, name, place) => {
    const { key, storedKey: stored } = generateApiKey({ principal: "ada", tenant: "acme" });
    const other = generateApiKey("bob");
    await using server = await AuthTestServer.start(
      apiKeys({ in: location, name, keys: [stored, other.storedKey] }),
    );
    const ask = async (key: string): Promise<number> =>
      server.fetchListTasksStatus(...(place(key) as [Record<string, string>, string?]));
    expect([await ask(key), await ask(other.key)]).toEqual([200, 200]);
    const half = key.slice(0, 17) + other.key.slice(17);
    for (const wrong of [
      half,
      `${key}x`,
      key.slice(1),
      stored.hash,
      stored.id,
      "x",
      "%00",
      generateApiKey("ada").key,
    ]) {
      expect(await ask(wrong)).toBe(401);
    }
    const refused = await server.listTasks();
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      `ApiKey realm="a2a", in="${location}", name="${name}"`,
    ]);
  });

  it("are rejected when a request has two of them", async () => {
    const { key, storedKey: stored } = generateApiKey("ada");
    for (const [location, headers, query] of [
      ["query", {}, `?k=${key}&k=${key}`],
      ["cookie", { cookie: `k=${key}; k=${key}` }, ""],
    ] as const) {
      await using server = await AuthTestServer.start(apiKeys({ in: location, name: "k", keys: [stored] }));
      expect(await server.fetchListTasksStatus(headers, query)).toBe(401);
    }
  });

  it("can be looked up by their id", async () => {
    const { key, storedKey: stored } = generateApiKey("ada");
    const lookedUpIds: string[] = [];
    const keys = async (id: string): Promise<typeof stored | undefined> => {
      lookedUpIds.push(id);
      return Promise.resolve(id === stored.id ? stored : undefined);
    };
    await using server = await AuthTestServer.start(apiKeys({ in: "header", name: "X-Key", keys }));
    expect([
      await server.fetchListTasksStatus({ "x-key": key }),
      await server.fetchListTasksStatus({ "x-key": "no key" }),
    ]).toEqual([200, 401]);
    expect(lookedUpIds).toEqual([stored.id, ""]);
  });

  it("are rejected in plain text, and with a name that is invalid in a header", () => {
    const { key, storedKey: stored } = generateApiKey("ada");
    const options = { in: "header", name: "X-Key", keys: [stored] } as const;
    expect(() => apiKeys({ ...options, keys: [{ ...stored, hash: key }] })).toThrow(
      "generate a new one with generateApiKey",
    );
    for (const name of ["", "a b", 'a"b', "a\r\nb"])
      expect(() => apiKeys({ ...options, name })).toThrow("The API key name");
  });
});

describe("passwords", () => {
  it("authenticate their user, with any characters [M-01]", async () => {
    const users = {
      ada: await hashPassword("pä:ss"),
      bob: { hash: await hashPassword("b"), principal: "robert", tenant: "acme" },
    };
    await using server = await AuthTestServer.start(basic({ users }));
    expect(await server.fetchCallerSeenByAgent(buildBasicAuthTestHeaders("ada", "pä:ss"))).toEqual({
      tenant: "",
      principal: "ada",
    });
    expect(await server.fetchCallerSeenByAgent(buildBasicAuthTestHeaders("bob", "b"))).toEqual({
      tenant: "acme",
      principal: "robert",
    });
    const [status, challenge, body] = await readErrorResponse(await server.listTasks());
    expect([status, challenge]).toEqual([401, `Basic realm="a2a", charset="UTF-8"`]);
    const wrong = [
      buildBasicAuthTestHeaders("ada", "b"),
      buildBasicAuthTestHeaders("eve", "pä:ss"),
      buildBasicAuthTestHeaders("", ""),
      { authorization: "Basic !" },
    ];
    for (const headers of [...wrong, { authorization: "Basic YWRh" }, { authorization: "Basic" }]) {
      expect(await readErrorResponse(await server.listTasks(headers))).toEqual([401, challenge, body]);
    }
  });

  it("have different hashes even when they are equal", async () => {
    const [one, other] = [await hashPassword("same"), await hashPassword("same")];
    expect(one).toMatch(/^scrypt\$16384\$8\$5\$/);
    expect(one).not.toBe(other);
  });

  it("are rejected in plain text", () => {
    for (const hash of ["secret", "", "scrypt$1$1", `scrypt$${2 ** 30}$8$1$AAAAAAAAAAAA$${"A".repeat(43)}`]) {
      expect(() => basic({ users: { ada: hash } })).toThrow("generate it with hashPassword(…)");
    }
    expect(() => basic({ users: {} })).toThrow("at least one");
  });

  it("are checked with limited concurrency, which does not affect verified users", async () => {
    const cost = { N: 16, r: 1, p: 1 };
    const salt = Buffer.from("salt of a test");
    const digest = scryptSync("right", salt, 32, cost).toString("base64url");
    const scheme = basic({ users: { ada: `scrypt$16$1$1$${salt.toString("base64url")}$${digest}` } });
    const find = async (password: string, remoteAddress = "192.0.2.1"): Promise<unknown> => {
      const header = (): string => buildBasicAuthTestHeaders("ada", password).authorization ?? "";
      return scheme.authenticate({ method: "GET", path: "/", query: "", header, remoteAddress });
    };
    const ada = { tenant: "", principal: "ada" };
    expect(await find("right")).toEqual(ada);
    const guesses = Array.from({ length: 40 }, (_, at) => find(`${at}`));
    expect(await find("right")).toEqual(ada);
    const found = await Promise.allSettled(guesses);
    const refused = found.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(35);
    expect(refused[0]).toMatchObject({ reason: { reason: "RESOURCE_EXHAUSTED", retryAfter: 1 } });
    expect(await find("right")).toEqual(ada);
    await expect(find("wrong")).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED" });
    expect(await find("wrong", "192.0.2.2")).toBe("invalid");
  });
});

describe("several authentication schemes", () => {
  const { key, storedKey: stored } = generateApiKey("carol");
  const ways = async (): Promise<AuthTestServer> =>
    AuthTestServer.start([
      bearer({ tokens: { [ADA_TOKEN]: "ada" } }),
      apiKeys({ in: "header", name: "X-API-Key", keys: [stored] }),
      ({ header }) => (header("x-own") === "yes" ? { tenant: "", principal: "dan" } : undefined),
    ]);

  it("are each sufficient, and are all in the challenge [M-01]", async () => {
    await using server = await ways();
    expect(await server.fetchCallerSeenByAgent(buildBearerAuthTestHeaders(ADA_TOKEN))).toMatchObject({
      principal: "ada",
    });
    expect(await server.fetchCallerSeenByAgent({ "x-api-key": key })).toMatchObject({ principal: "carol" });
    expect(await server.fetchCallerSeenByAgent({ "x-own": "yes" })).toMatchObject({ principal: "dan" });
    expect(
      await server.fetchCallerSeenByAgent({ ...buildBearerAuthTestHeaders("wrong"), "x-api-key": key }),
    ).toMatchObject({
      principal: "carol",
    });
    expect((await server.listTasks({ "x-api-key": "wrong" })).headers.get("www-authenticate")).toBe(
      `Bearer realm="a2a", ApiKey realm="a2a", in="header", name="X-API-Key"`,
    );
  });

  it("can allow anonymous callers, but never invalid credentials", async () => {
    const anybody = (): { tenant: string; principal: string } => ({ tenant: "", principal: "" });
    const named = bearer({ tokens: { [ADA_TOKEN]: "ada" } });
    const open = custom({
      schemeName: "open",
      securityScheme: { mtlsSecurityScheme: {} },
      authenticate: anybody,
    });
    for (const ways of [
      [named, anybody],
      [anybody, named],
      [open, named],
    ]) {
      await using server = await AuthTestServer.start(ways);
      expect(await server.fetchCallerSeenByAgent(buildBearerAuthTestHeaders(ADA_TOKEN))).toMatchObject({
        principal: "ada",
      });
      expect(await server.fetchListTasksStatus()).toBe(200);
      expect(await server.fetchListTasksStatus(buildBearerAuthTestHeaders("wrong"))).toBe(401);
    }
  });

  it("have different names", () => {
    const two = [bearer({ tokens: { [ADA_TOKEN]: "ada" } }), bearer({ tokens: { [BOB_TOKEN]: "bob" } })];
    expect(() => new AuthTestServer(two)).toThrow(`have the name "bearer"`);
    expect(() => new AuthTestServer([])).toThrow("empty list");
  });
});

describe("a custom scheme", () => {
  const own = (scopes: string[] = []): Promise<AuthTestServer> => {
    const scheme = custom({
      schemeName: "own",
      securityScheme: { apiKeySecurityScheme: { location: "header", name: "X-Signed-By" } },
      authenticate: ({ method, path, query, header }) => {
        const by = header("X-Signed-By");
        if (by === undefined) return undefined;
        const isSigned = by === `ada of ${method} ${path}?${query}`;
        return isSigned ? { tenant: "", principal: "ada", scopes: ["use"] } : "invalid";
      },
      challenge: "Signed",
      requiredScopes: scopes,
    });
    return AuthTestServer.start([scheme, () => ({ tenant: "", principal: "" })]);
  };

  it("receives the request, and can reject it [M-01]", async () => {
    await using server = await own();
    expect(
      await server.fetchListTasksStatus({ "x-signed-by": "ada of GET /tasks?pageSize=2" }, "?pageSize=2"),
    ).toBe(200);
    expect(await server.fetchListTasksStatus({})).toBe(200);
    const refused = await server.listTasks({ "x-signed-by": "ada of GET /other?" });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Signed"]);
  });

  it("finds no caller if the function returns null [M-01]", async () => {
    const scheme = custom({
      schemeName: "own",
      securityScheme: { apiKeySecurityScheme: { location: "header", name: "X-Signed-By" } },
      authenticate: () => JSON.parse("null"),
    });
    await using server = await AuthTestServer.start([scheme]);
    expect(await server.fetchListTasksStatus({})).toBe(401);
  });

  it("can require scopes [M-02]", async () => {
    await using server = await own(["admin"]);
    expect(await server.fetchListTasksStatus({ "x-signed-by": "ada of GET /tasks?" })).toBe(403);
  });
});

it("malformed credentials are rejected and cause no errors [M-01, M-08]", async () => {
  const gate = new Authenticator(
    [
      bearer({ tokens: { [ADA_TOKEN]: "ada" } }),
      jwt({ audience: "agents", keys: EMPTY_JWKS }),
      ...(["header", "query", "cookie"] as const).map((location) =>
        apiKeys({ in: location, name: "k", keys: [generateApiKey("ada").storedKey], schemeName: location }),
      ),
      mtls(),
    ].map((scheme, at) => ({ ...scheme, name: `${at}` })),
  );
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: arbitraryCharacter }),
    fc.string().map((text) => `Bearer ${text}`),
    fc.base64String().map((text) => `Bearer ${text}`),
    fc.array(fc.base64String()).map((parts) => `Bearer ${parts.join(".")}`),
    fc.string().map((text) => `k=${text}; k`),
  );
  const headersArbitrary = fc.record({ authorization: value, k: value, cookie: value }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(headersArbitrary, value, async (headers: Record<string, string>, query) => {
      const request = { method: "GET", path: "/", query, header: (name: string) => headers[name] };
      await expect(gate.authenticate(request)).rejects.toBeInstanceOf(AuthChallengeError);
    }),
  );
});

describe("the card", () => {
  const ISSUER = "https://id.example.com/";

  it("declares all five kinds of schemes as configured [A-10, M-01]", async () => {
    const flows = { clientCredentials: { tokenUrl: `${ISSUER}token`, scopes: { use: "Use the agent" } } };
    const common = { audience: "agents", keys: EMPTY_JWKS };
    await using server = await AuthTestServer.start([
      bearer({ tokens: { [ADA_TOKEN]: "ada" }, bearerFormat: "opaque" }),
      basic({ users: { ada: await hashPassword("a") } }),
      apiKeys({ in: "cookie", name: "k", keys: [generateApiKey("ada").storedKey] }),
      oauth2({ ...common, flows, metadataUrl: `${ISSUER}meta`, requiredScopes: ["use"] }),
      openIdConnect({ ...common, issuer: ISSUER }),
      mtls(),
      custom({
        schemeName: "own",
        securityScheme: { httpAuthSecurityScheme: { scheme: "Own" } },
        authenticate: () => undefined,
        challenge: "Own",
      }),
    ]);
    const card = await server.fetchCard();
    expect(card.securitySchemes).toEqual({
      bearer: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "opaque" } },
      basic: { httpAuthSecurityScheme: { scheme: "Basic" } },
      apiKey: { apiKeySecurityScheme: { location: "cookie", name: "k" } },
      oauth2: { oauth2SecurityScheme: { flows, oauth2MetadataUrl: `${ISSUER}meta` } },
      openIdConnect: {
        openIdConnectSecurityScheme: { openIdConnectUrl: `${ISSUER}.well-known/openid-configuration` },
      },
      mtls: { mtlsSecurityScheme: {} },
      own: { httpAuthSecurityScheme: { scheme: "Own" } },
    });
    expect(card.securityRequirements).toEqual(
      ["bearer", "basic", "apiKey", "oauth2", "openIdConnect", "mtls", "own"].map((name) => ({
        schemes: { [name]: { list: name === "oauth2" ? ["use"] : [] } },
      })),
    );
    // The 1.0 decoder validates the card field by field, as the schema of the specification requires.
    expect(v1.decodeCard(card)).toMatchObject({ securitySchemes: card.securitySchemes });
    expect((await server.listTasks()).headers.get("www-authenticate")).toBe(
      `Bearer realm="a2a", Basic realm="a2a", charset="UTF-8", ApiKey realm="a2a", in="cookie", name="k", Bearer realm="a2a", scope="use", Mutual realm="a2a", Own`,
    );
  });

  it("has the security declaration of the agent, if there is one [A-10]", async () => {
    const { whoamiTestAgent: mirror } = await import("./auth-test-server.fixture.ts");
    const own = { securitySchemes: { gateway: { mtlsSecurityScheme: {} } } };
    const served = { ...mirror, describe: () => ({ name: "m", description: "m", ...own }) };
    await using server = await AuthTestServer.start(bearer({ tokens: { [ADA_TOKEN]: "ada" } }), {}, served);
    const card = await server.fetchCard();
    expect([card.securitySchemes, card.securityRequirements]).toEqual([own.securitySchemes, undefined]);
  });

  it("has no security declaration without authentication", async () => {
    await using open = await AuthTestServer.start(undefined);
    await using plain = await AuthTestServer.start(() => undefined);
    for (const server of [open, plain])
      expect(await server.fetchCard()).not.toHaveProperty("securitySchemes");
  });
});

it("an untyped authenticate function may omit only the tenant", async () => {
  const startWith = (caller: unknown): Promise<AuthTestServer> =>
    AuthTestServer.start((() => caller) as AuthenticateFunction);
  await using server = await startWith({ principal: "ada" });
  expect(await server.fetchCallerSeenByAgent()).toMatchObject({ tenant: "", principal: "ada" });
  for (const wrong of [{ principal: 7 }, { tenant: "", principal: null }, { tenant: 7, principal: "ada" }]) {
    await using refusing = await startWith(wrong);
    expect(await refusing.fetchListTasksStatus()).toBe(500);
    expect(String(refusing.errors[0])).toContain(`"authenticate" did not return a caller`);
  }
  for (const wrong of [true, "ada", { tenant: "" }]) {
    await using refusing = await startWith(wrong);
    expect(await refusing.fetchListTasksStatus()).toBe(401);
  }
});

it("a challenge that is invalid in a header is rejected at creation", () => {
  const declared = { mtlsSecurityScheme: {} };
  for (const challenge of ["", "größe", "日本", "A\r\nset-cookie: x"]) {
    const open = (): unknown =>
      custom({ schemeName: "own", securityScheme: declared, authenticate: () => undefined, challenge });
    expect(open).toThrow("is not valid in a header");
  }
});

it("an error in an authenticate function is a server error", async () => {
  await using server = await AuthTestServer.start(() => {
    throw new Error("no database");
  });
  expect(await server.fetchListTasksStatus()).toBe(500);
  expect(server.errors).toMatchObject([{ message: "no database" }]);
  await using busy = await AuthTestServer.start(() =>
    Promise.reject(new A2AError("UNAVAILABLE", "Later.", { retryAfter: 3 })),
  );
  expect(await busy.fetchListTasksStatus()).toBe(503);
});
