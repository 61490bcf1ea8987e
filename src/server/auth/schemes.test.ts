import { createHash, scryptSync } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2AError } from "../../protocol/index.ts";
import { v1 } from "../../wire/index.ts";
import { AuthRefusal, Gate } from "./authentication.ts";
import { Guarded, withBasic, withBearer } from "./auth.fixture.ts";
import type { Authenticate } from "./scheme.ts";
import {
  apiKeys,
  basic,
  bearer,
  custom,
  hashPassword,
  jwt,
  mtls,
  newApiKey,
  oauth2,
  openIdConnect,
} from "./index.ts";

const ADA = "ada-has-a-long-token-0001";
const BOB = "bob-has-a-long-token-0002";
const PUBLIC = { keys: [] };

async function faultOf(response: Response): Promise<unknown[]> {
  return [response.status, response.headers.get("www-authenticate"), await response.text()];
}

describe("bearer tokens", () => {
  it("let in whom they stand for, in both bindings [M-01]", async () => {
    const grants = { [ADA]: "ada", [BOB]: { principal: "bob", tenant: "acme", scopes: ["read"] } };
    await using server = await Guarded.open(bearer({ tokens: grants }));
    expect(await server.status(withBearer(ADA))).toBe(200);
    expect(await server.status({ authorization: `bEARER   ${ADA}` })).toBe(200);
    expect(await server.whoami(withBearer(ADA))).toEqual({ tenant: "", principal: "ada" });
    expect(await server.whoami(withBearer(BOB))).toEqual({
      tenant: "acme",
      principal: "bob",
      scopes: ["read"],
    });
  });

  it("that are missing or wrong are refused in the same words, with a challenge [M-01, M-11]", async () => {
    await using server = await Guarded.open(bearer({ tokens: { [ADA]: "ada" } }));
    const [status, challenge, body] = await faultOf(await server.list());
    expect([status, challenge]).toEqual([401, `Bearer realm="a2a"`]);
    const invalid = [401, `Bearer realm="a2a", error="invalid_token"`, body];
    const wrong = [
      ADA.slice(0, -1),
      `${ADA}x`,
      ADA.toUpperCase(),
      "",
      "a b",
      `${ADA}, Bearer ${ADA}`,
      "💥".repeat(9),
      "x".repeat(9000),
    ];
    for (const token of wrong) {
      const sent = Buffer.from(token).toString("latin1");
      expect(await faultOf(await server.list(withBearer(sent)))).toEqual(invalid);
    }
    for (const header of ["", "Basic YTpi", ADA, `Bearerx ${ADA}`, "Digest"]) {
      expect(await faultOf(await server.list({ authorization: header }))).toEqual([401, challenge, body]);
    }
  });

  it("are refused in JSON-RPC with an error of JSON-RPC and the same status [M-11]", async () => {
    await using server = await Guarded.open(bearer({ tokens: { [ADA]: "ada" } }));
    const response = await server.rpc("ListTasks", {}, withBearer("wrong"));
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

  it("may be known to a function of one's own only", async () => {
    const verify = (token: string): { tenant: string; principal: string } | undefined =>
      token === "t" ? { tenant: "", principal: "ada" } : undefined;
    for (const each of [verify, (token: string) => Promise.resolve(verify(token))]) {
      await using server = await Guarded.open(bearer({ verify: each }));
      expect([await server.status(withBearer("t")), await server.status(withBearer("u"))]).toEqual([
        200, 401,
      ]);
    }
  });

  it("are not shorter than a guess, and not the name of a variable that is not set", () => {
    for (const token of ["", "short", "has spaces in it, sixteen"]) {
      expect(() => bearer({ tokens: { [token]: "ada" } })).toThrow("at least 16 characters");
    }
    expect(() => bearer({ tokens: { [String(undefined)]: "ada" } })).toThrow("is the variable set");
    expect(() => bearer({ tokens: { [ADA]: "" } })).toThrow("somebody");
    expect(() => bearer({})).toThrow(`"tokens" or "verify"`);
  });

  it("that lack a scope are refused with 403, and told which, in both bindings [M-02, M-11]", async () => {
    const tokens = { [ADA]: { principal: "ada", scopes: ["agent:use", "x"] }, [BOB]: "bob" };
    await using server = await Guarded.open(bearer({ tokens, scopes: ["agent:use"] }));
    expect(await server.status(withBearer(ADA))).toBe(200);
    const rest = await server.list(withBearer(BOB));
    const challenge = `Bearer realm="a2a", error="insufficient_scope", scope="agent:use"`;
    expect([rest.status, rest.headers.get("www-authenticate")]).toEqual([403, challenge]);
    expect(await rest.json()).toMatchObject({ error: { status: "PERMISSION_DENIED" } });
    const rpc = await server.rpc("ListTasks", {}, withBearer(BOB));
    expect([rpc.status, rpc.headers.get("www-authenticate")]).toEqual([403, challenge]);
    expect(await rpc.json()).toMatchObject({
      error: { code: -32000, data: [{ reason: "PERMISSION_DENIED" }] },
    });
    expect((await server.card()).securityRequirements).toEqual([
      { schemes: { bearer: { list: ["agent:use"] } } },
    ]);
  });

  it("have scopes that can not break a header", () => {
    for (const scope of ['a"b', "a b", "a\r\nb", "a\\b", ""]) {
      expect(() => bearer({ tokens: { [ADA]: "ada" }, scopes: [scope] })).toThrow("is no scope");
    }
  });
});

describe("API keys", () => {
  it("are kept only as a digest", () => {
    const { key, stored } = newApiKey({ principal: "ada", tenant: "acme", scopes: ["read"] });
    expect(key).toMatch(/^clq_[0-9a-f]{12}_[\w-]{43}$/);
    expect(stored).toEqual({
      id: key.slice(4, 16),
      hash: `sha256:${createHash("sha256").update(key).digest("base64url")}`,
      principal: "ada",
      tenant: "acme",
      scopes: ["read"],
    });
    expect(newApiKey("ada").key).not.toBe(newApiKey("ada").key);
  });

  it.each([
    ["header", "X-API-Key", (key: string) => [{ "x-api-key": key }]],
    ["query", "api_key", (key: string) => [{}, `?api_key=${key}`]],
    ["cookie", "agent-key", (key: string) => [{ cookie: `a=b; agent-key=${key}; c=d` }]],
  ] as const)("may stand in the %s [M-01]", async (location, name, place) => {
    const { key, stored } = newApiKey({ principal: "ada", tenant: "acme" });
    const other = newApiKey("bob");
    await using server = await Guarded.open(apiKeys({ in: location, name, keys: [stored, other.stored] }));
    const ask = async (given: string): Promise<number> =>
      server.status(...(place(given) as [Record<string, string>, string?]));
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
      newApiKey("ada").key,
    ]) {
      expect(await ask(wrong)).toBe(401);
    }
    const refused = await server.list();
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      `ApiKey realm="a2a", in="${location}", name="${name}"`,
    ]);
  });

  it("that come twice are none", async () => {
    const { key, stored } = newApiKey("ada");
    for (const [location, headers, query] of [
      ["query", {}, `?k=${key}&k=${key}`],
      ["cookie", { cookie: `k=${key}; k=${key}` }, ""],
    ] as const) {
      await using server = await Guarded.open(apiKeys({ in: location, name: "k", keys: [stored] }));
      expect(await server.status(headers, query)).toBe(401);
    }
  });

  it("may be found by their id, wherever they are kept", async () => {
    const { key, stored } = newApiKey("ada");
    const asked: string[] = [];
    const keys = async (id: string): Promise<typeof stored | undefined> => {
      asked.push(id);
      return Promise.resolve(id === stored.id ? stored : undefined);
    };
    await using server = await Guarded.open(apiKeys({ in: "header", name: "X-Key", keys }));
    expect([await server.status({ "x-key": key }), await server.status({ "x-key": "no key" })]).toEqual([
      200, 401,
    ]);
    expect(asked).toEqual([stored.id, ""]);
  });

  it("are not taken as they are, nor under a name that breaks a header", () => {
    const { key, stored } = newApiKey("ada");
    const options = { in: "header", name: "X-Key", keys: [stored] } as const;
    expect(() => apiKeys({ ...options, keys: [{ ...stored, hash: key }] })).toThrow(
      "not kept as newApiKey made it",
    );
    for (const name of ["", "a b", 'a"b', "a\r\nb"])
      expect(() => apiKeys({ ...options, name })).toThrow("can not be the name");
  });
});

describe("passwords", () => {
  it("let in whose they are, of any characters [M-01]", async () => {
    const users = {
      ada: await hashPassword("pä:ss"),
      bob: { hash: await hashPassword("b"), principal: "robert", tenant: "acme" },
    };
    await using server = await Guarded.open(basic({ users }));
    expect(await server.whoami(withBasic("ada", "pä:ss"))).toEqual({ tenant: "", principal: "ada" });
    expect(await server.whoami(withBasic("bob", "b"))).toEqual({ tenant: "acme", principal: "robert" });
    const [status, challenge, body] = await faultOf(await server.list());
    expect([status, challenge]).toEqual([401, `Basic realm="a2a", charset="UTF-8"`]);
    const wrong = [
      withBasic("ada", "b"),
      withBasic("eve", "pä:ss"),
      withBasic("", ""),
      { authorization: "Basic !" },
    ];
    for (const headers of [...wrong, { authorization: "Basic YWRh" }, { authorization: "Basic" }]) {
      expect(await faultOf(await server.list(headers))).toEqual([401, challenge, body]);
    }
  });

  it("are kept so that two that are the same do not look the same", async () => {
    const [one, other] = [await hashPassword("same"), await hashPassword("same")];
    expect(one).toMatch(/^scrypt\$16384\$8\$5\$/);
    expect(one).not.toBe(other);
  });

  it("are not taken as they are", () => {
    for (const kept of ["secret", "", "scrypt$1$1", `scrypt$${2 ** 30}$8$1$AAAAAAAAAAAA$${"A".repeat(43)}`]) {
      expect(() => basic({ users: { ada: kept } })).toThrow("as hashPassword(…) has made it");
    }
    expect(() => basic({ users: {} })).toThrow("at least one");
  });

  it("are not guessed by many at once, which whoever is known does not notice", async () => {
    const cost = { N: 16, r: 1, p: 1 };
    const salt = Buffer.from("salt of a test");
    const digest = scryptSync("right", salt, 32, cost).toString("base64url");
    const scheme = basic({ users: { ada: `scrypt$16$1$1$${salt.toString("base64url")}$${digest}` } });
    const find = async (password: string): Promise<unknown> => {
      const header = (): string => withBasic("ada", password).authorization ?? "";
      return scheme.find({ method: "GET", path: "/", query: "", header });
    };
    const ada = { tenant: "", principal: "ada" };
    expect(await find("right")).toEqual(ada);
    const guesses = Array.from({ length: 40 }, (_, at) => find(`${at}`));
    expect(await find("right")).toEqual(ada);
    const found = await Promise.allSettled(guesses);
    const refused = found.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(8);
    expect(refused[0]).toMatchObject({ reason: { reason: "RESOURCE_EXHAUSTED", retryAfter: 1 } });
    expect(await find("wrong")).toBe("invalid");
  });
});

describe("several ways to authenticate", () => {
  const { key, stored } = newApiKey("carol");
  const ways = async (): Promise<Guarded> =>
    Guarded.open([
      bearer({ tokens: { [ADA]: "ada" } }),
      apiKeys({ in: "header", name: "X-API-Key", keys: [stored] }),
      ({ header }) => (header("x-own") === "yes" ? { tenant: "", principal: "dan" } : undefined),
    ]);

  it("are each enough, and all named to who has none [M-01]", async () => {
    await using server = await ways();
    expect(await server.whoami(withBearer(ADA))).toMatchObject({ principal: "ada" });
    expect(await server.whoami({ "x-api-key": key })).toMatchObject({ principal: "carol" });
    expect(await server.whoami({ "x-own": "yes" })).toMatchObject({ principal: "dan" });
    expect(await server.whoami({ ...withBearer("wrong"), "x-api-key": key })).toMatchObject({
      principal: "carol",
    });
    expect((await server.list({ "x-api-key": "wrong" })).headers.get("www-authenticate")).toBe(
      `Bearer realm="a2a", ApiKey realm="a2a", in="header", name="X-API-Key"`,
    );
  });

  it("may let nobody in particular in, but never somebody with wrong credentials", async () => {
    const anybody = (): { tenant: string; principal: string } => ({ tenant: "", principal: "" });
    const named = bearer({ tokens: { [ADA]: "ada" } });
    const open = custom({ name: "open", declared: { mtlsSecurityScheme: {} }, authenticate: anybody });
    for (const ways of [
      [named, anybody],
      [anybody, named],
      [open, named],
    ]) {
      await using server = await Guarded.open(ways);
      expect(await server.whoami(withBearer(ADA))).toMatchObject({ principal: "ada" });
      expect(await server.status()).toBe(200);
      expect(await server.status(withBearer("wrong"))).toBe(401);
    }
  });

  it("have names of their own", () => {
    const two = [bearer({ tokens: { [ADA]: "ada" } }), bearer({ tokens: { [BOB]: "bob" } })];
    expect(() => new Guarded(two)).toThrow(`are called "bearer"`);
    expect(() => new Guarded([])).toThrow("empty list");
  });
});

describe("a way of one's own", () => {
  const own = (scopes: string[] = []): Promise<Guarded> => {
    const scheme = custom({
      name: "own",
      declared: { apiKeySecurityScheme: { location: "header", name: "X-Signed-By" } },
      authenticate: ({ method, path, query, header }) => {
        const by = header("X-Signed-By");
        if (by === undefined) return undefined;
        const isSigned = by === `ada of ${method} ${path}?${query}`;
        return isSigned ? { tenant: "", principal: "ada", scopes: ["use"] } : "invalid";
      },
      challenge: "Signed",
      scopes,
    });
    return Guarded.open([scheme, () => ({ tenant: "", principal: "" })]);
  };

  it("sees what was asked, and its refusals hold [M-01]", async () => {
    await using server = await own();
    expect(await server.status({ "x-signed-by": "ada of GET /tasks?pageSize=2" }, "?pageSize=2")).toBe(200);
    expect(await server.status({})).toBe(200);
    const refused = await server.list({ "x-signed-by": "ada of GET /other?" });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Signed"]);
  });

  it("may need scopes [M-02]", async () => {
    await using server = await own(["admin"]);
    expect(await server.status({ "x-signed-by": "ada of GET /tasks?" })).toBe(403);
  });
});

it("nothing that a stranger may send is taken for credentials, and nothing of it breaks anything [M-01, M-08]", async () => {
  const gate = new Gate(
    [
      bearer({ tokens: { [ADA]: "ada" } }),
      jwt({ audience: "agents", keys: PUBLIC }),
      ...(["header", "query", "cookie"] as const).map((location) =>
        apiKeys({ in: location, name: "k", keys: [newApiKey("ada").stored], scheme: location }),
      ),
      mtls(),
    ].map((scheme, at) => ({ ...scheme, name: `${at}` })),
  );
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.string().map((text) => `Bearer ${text}`),
    fc.base64String().map((text) => `Bearer ${text}`),
    fc.array(fc.base64String()).map((parts) => `Bearer ${parts.join(".")}`),
    fc.string().map((text) => `k=${text}; k`),
  );
  const asked = fc.record({ authorization: value, k: value, cookie: value }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(asked, value, async (headers: Record<string, string>, query) => {
      const request = { method: "GET", path: "/", query, header: (name: string) => headers[name] };
      await expect(gate.admit(request)).rejects.toBeInstanceOf(AuthRefusal);
    }),
  );
});

describe("the card", () => {
  const ISSUER = "https://id.example.com/";

  it("declares all five kinds, as they were configured [A-10, M-01]", async () => {
    const flows = { clientCredentials: { tokenUrl: `${ISSUER}token`, scopes: { use: "Use the agent" } } };
    const common = { audience: "agents", keys: PUBLIC };
    await using server = await Guarded.open([
      bearer({ tokens: { [ADA]: "ada" }, format: "opaque" }),
      basic({ users: { ada: await hashPassword("a") } }),
      apiKeys({ in: "cookie", name: "k", keys: [newApiKey("ada").stored] }),
      oauth2({ ...common, flows, metadataUrl: `${ISSUER}meta`, scopes: ["use"] }),
      openIdConnect({ ...common, issuer: ISSUER }),
      mtls(),
      custom({
        name: "own",
        declared: { httpAuthSecurityScheme: { scheme: "Own" } },
        authenticate: () => undefined,
        challenge: "Own",
      }),
    ]);
    const card = await server.card();
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
    // What others make of it, field by field as in the specification's own schema.
    expect(v1.decodeCard(card)).toMatchObject({ securitySchemes: card.securitySchemes });
    expect((await server.list()).headers.get("www-authenticate")).toBe(
      `Bearer realm="a2a", Basic realm="a2a", charset="UTF-8", ApiKey realm="a2a", in="cookie", name="k", Bearer realm="a2a", scope="use", Mutual realm="a2a", Own`,
    );
  });

  it("says what its agent says of authentication, where it says anything [A-10]", async () => {
    const { mirror } = await import("./auth.fixture.ts");
    const own = { securitySchemes: { gateway: { mtlsSecurityScheme: {} } } };
    const served = { ...mirror, describe: () => ({ name: "m", description: "m", ...own }) };
    await using server = await Guarded.open(bearer({ tokens: { [ADA]: "ada" } }), {}, served);
    const card = await server.card();
    expect([card.securitySchemes, card.securityRequirements]).toEqual([own.securitySchemes, undefined]);
  });

  it("says nothing of it where there is none", async () => {
    await using open = await Guarded.open(undefined);
    await using plain = await Guarded.open(() => undefined);
    for (const server of [open, plain]) expect(await server.card()).not.toHaveProperty("securitySchemes");
  });
});

it("an authenticate function without types may leave out the tenant, and nothing else", async () => {
  const given = (caller: unknown): Promise<Guarded> => Guarded.open((() => caller) as Authenticate);
  await using server = await given({ principal: "ada" });
  expect(await server.whoami()).toMatchObject({ tenant: "", principal: "ada" });
  for (const wrong of [{ principal: 7 }, { tenant: "", principal: null }, { tenant: 7, principal: "ada" }]) {
    await using refusing = await given(wrong);
    expect(await refusing.status()).toBe(500);
    expect(String(refusing.errors[0])).toContain(`"authenticate" gave no caller`);
  }
  for (const wrong of [true, "ada", { tenant: "" }]) {
    await using refusing = await given(wrong);
    expect(await refusing.status()).toBe(401);
  }
});

it("a challenge that fits into no header is refused where it is written", () => {
  const declared = { mtlsSecurityScheme: {} };
  for (const challenge of ["", "größe", "日本", "A\r\nset-cookie: x"]) {
    const open = (): unknown => custom({ name: "own", declared, authenticate: () => undefined, challenge });
    expect(open).toThrow("fits into no header");
  }
});

it("an authenticate function that fails is the server's fault, and refuses", async () => {
  await using server = await Guarded.open(() => {
    throw new Error("no database");
  });
  expect(await server.status()).toBe(500);
  expect(server.errors).toMatchObject([{ message: "no database" }]);
  await using busy = await Guarded.open(() =>
    Promise.reject(new A2AError("UNAVAILABLE", "Later.", { retryAfter: 3 })),
  );
  expect(await busy.status()).toBe(503);
});
