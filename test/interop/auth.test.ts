/** The official client, and ours, at servers that want to know who asks; ours by nothing but what the card says. */
import { Role, SendMessageRequest } from "@a2a-js/sdk";
import {
  ClientFactory,
  ClientFactoryOptions,
  createAuthenticatingFetchWithRetry,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from "@a2a-js/sdk/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent } from "../../src/adapters/index.ts";
import { connect, type ClientAuth } from "../../src/client/index.ts";
import { Issuer } from "../../src/keys/issuer.fixture.ts";
import { Guarded } from "../../src/server/auth/auth.fixture.ts";
import {
  apiKeys,
  basic,
  bearer,
  hashPassword,
  newApiKey,
  oauth2,
  openIdConnect,
  type AuthScheme,
} from "../../src/server/auth/index.ts";

const TOKEN = "token-of-ada-0123456789";

/** Says to whom it speaks, and more in its extended card. */
const polite = agent(
  { name: "polite", description: "Greets" },
  async function* ({ caller }) {
    yield `Hello, ${caller.principal}!`;
  },
  { describeExtended: ({ principal }) => ({ description: `Greets ${principal}` }) },
);

interface Way {
  readonly scheme: AuthScheme;
  /** What the official client sends. */
  readonly headers: Record<string, string>;
  /** What ours is given. */
  readonly auth: ClientAuth;
  readonly name?: string;
}

const WAYS: Record<string, (issuer: Issuer) => Promise<Way>> = {
  "a bearer token": async () =>
    Promise.resolve({
      scheme: bearer({ tokens: { [TOKEN]: "ada" } }),
      headers: { authorization: `Bearer ${TOKEN}` },
      auth: { bearer: TOKEN },
    }),
  "an API key": async () => {
    const { key, stored } = newApiKey("ada");
    const scheme = apiKeys({ in: "header", name: "X-API-Key", keys: [stored] });
    return Promise.resolve({ scheme, headers: { "x-api-key": key }, auth: { apiKey: key } });
  },
  "a password": async () => ({
    scheme: basic({ users: { ada: await hashPassword("secret") } }),
    headers: { authorization: `Basic ${btoa("ada:secret")}` },
    auth: { basic: { username: "ada", password: "secret" } },
  }),
  "an OAuth 2.0 client": async (issuer) => {
    const flows = { clientCredentials: { tokenUrl: `${issuer.url}/token`, scopes: { use: "Use it" } } };
    const scheme = oauth2({ issuer: issuer.url, audience: "agents", flows, scopes: ["use"] });
    return { scheme, ...(await tokenOf(issuer)) };
  },
  "an OpenID client": async (issuer) => {
    const scheme = openIdConnect({ issuer: issuer.url, audience: "agents" });
    return { scheme, ...(await tokenOf(issuer)) };
  },
};

async function tokenOf(issuer: Issuer): Promise<Omit<Way, "scheme">> {
  const token = await issuer.token({ scope: "use" });
  const body = JSON.stringify({ access_token: token, token_type: "Bearer", expires_in: 60 });
  issuer.says.set("/token", { body });
  return {
    headers: { authorization: `Bearer ${token}` },
    auth: { client: { id: "me", secret: "secret", issuer: issuer.url } },
    name: `${issuer.url}|ada`,
  };
}

describe.each(["JSONRPC", "HTTP+JSON"] as const)("over %s", (binding) => {
  let issuer: Issuer;
  beforeEach(async () => {
    issuer = await Issuer.open();
  });
  afterEach(() => issuer[Symbol.asyncDispose]());

  describe.each(Object.keys(WAYS))("with %s", (kind) => {
    const open = async (): Promise<{ server: Guarded; way: Way }> => {
      const way = await (WAYS[kind] as (issuer: Issuer) => Promise<Way>)(issuer);
      return { server: await Guarded.open(way.scheme, {}, polite), way };
    };

    it("the client of @a2a-js/sdk is refused, shows what it has, and is let in [M-01, M-11, A-30]", async () => {
      const { server, way } = await open();
      await using _ = server;
      const challenges: (string | null)[] = [];
      const client = await official(server.url, binding, way.headers, challenges);
      expect(JSON.stringify(await client.sendMessage(hello()))).toContain(`Hello, ${way.name ?? "ada"}!`);
      expect(challenges).toEqual([expect.stringContaining('realm="a2a"')]);
      const { description } = await client.getAgentCard();
      expect(description).toBe(`Greets ${way.name ?? "ada"}`);
    });

    it("our client finds by the card where its credentials go [M-01, A-30]", async () => {
      const { server, way } = await open();
      await using _ = server;
      const remote = await connect(server.url, { auth: way.auth, binding });
      expect(JSON.stringify(await remote.send("Hello"))).toContain(`Hello, ${way.name ?? "ada"}!`);
      expect((await remote.extendedCard()).description).toBe(`Greets ${way.name ?? "ada"}`);
    });
  });
});

/** A client of @a2a-js/sdk that shows these headers once it was refused. */
async function official(
  url: string,
  binding: "JSONRPC" | "HTTP+JSON",
  shown: Record<string, string>,
  challenges: (string | null)[],
): Promise<Client> {
  let known = {};
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: () => Promise.resolve(known),
    shouldRetryWithHeaders: (_, response) => {
      if (response.status === 401) challenges.push(response.headers.get("www-authenticate"));
      return Promise.resolve(response.status === 401 ? shown : undefined);
    },
    onSuccessfulRetry: (headers) => {
      known = headers;
      return Promise.resolve();
    },
  });
  const transport =
    binding === "JSONRPC"
      ? new JsonRpcTransportFactory({ fetchImpl })
      : new RestTransportFactory({ fetchImpl });
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [transport],
    preferredTransports: [binding],
  });
  return await new ClientFactory(options).createFromUrl(url);
}

function hello(): SendMessageRequest {
  const message = { messageId: crypto.randomUUID(), role: Role.ROLE_USER, parts: [{ text: "Hello" }] };
  return SendMessageRequest.fromJSON({ message });
}
