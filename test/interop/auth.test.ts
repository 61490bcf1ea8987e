/**
 * Tests the official client and our client against servers that require authentication. Our client uses only
 * the information in the card.
 */
import { Role, SendMessageRequest } from "@a2a-js/sdk";
import {
  createAuthenticatingFetchWithRetry,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from "@a2a-js/sdk/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent } from "../../src/agents/adapters/index.ts";
import { connect, type ClientAuthOptions } from "../../src/client/index.ts";
import { FakeOidcProvider } from "../../src/wire/keys/fake-oidc-provider.fixture.ts";
import { AuthTestServer } from "../../src/server/auth/auth-test-server.fixture.ts";
import {
  apiKeys,
  basic,
  bearer,
  hashPassword,
  generateApiKey,
  oauth2,
  openIdConnect,
  type AuthScheme,
} from "../../src/server/auth/index.ts";
import { createSdkClient } from "./sdk-client.ts";

const TOKEN = "token-of-ada-0123456789";

/** An agent that names its caller, with more details in its extended card. */
const polite = agent(
  { name: "polite", description: "Greets" },
  async function* ({ caller }) {
    yield `Hello, ${caller.principal}!`;
  },
  { describeExtended: ({ principal }) => ({ description: `Greets ${principal}` }) },
);

interface AuthCase {
  readonly scheme: AuthScheme;
  /** Headers that the official client sends. */
  readonly headers: Record<string, string>;
  /** Options for our client. */
  readonly auth: ClientAuthOptions;
  readonly name?: string;
}

const AUTH_CASES: Record<string, (issuer: FakeOidcProvider) => Promise<AuthCase>> = {
  "a bearer token": async () =>
    Promise.resolve({
      scheme: bearer({ tokens: { [TOKEN]: "ada" } }),
      headers: { authorization: `Bearer ${TOKEN}` },
      auth: { bearer: TOKEN },
    }),
  "an API key": async () => {
    const { key, storedKey } = generateApiKey("ada");
    const scheme = apiKeys({ in: "header", name: "X-API-Key", keys: [storedKey] });
    return Promise.resolve({ scheme, headers: { "x-api-key": key }, auth: { apiKey: key } });
  },
  "a password": async () => ({
    scheme: basic({ users: { ada: await hashPassword("secret") } }),
    headers: { authorization: `Basic ${btoa("ada:secret")}` },
    auth: { basic: { username: "ada", password: "secret" } },
  }),
  "an OAuth 2.0 client": async (issuer) => {
    const flows = { clientCredentials: { tokenUrl: `${issuer.url}/token`, scopes: { use: "Use it" } } };
    const scheme = oauth2({ issuer: issuer.url, audience: "agents", flows, requiredScopes: ["use"] });
    return { scheme, ...(await fetchToken(issuer)) };
  },
  "an OpenID client": async (issuer) => {
    const scheme = openIdConnect({ issuer: issuer.url, audience: "agents" });
    return { scheme, ...(await fetchToken(issuer)) };
  },
};

async function fetchToken(issuer: FakeOidcProvider): Promise<Omit<AuthCase, "scheme">> {
  const token = await issuer.signToken({ scope: "use" });
  const body = JSON.stringify({ access_token: token, token_type: "Bearer", expires_in: 60 });
  issuer.responseOverrides.set("/token", { body });
  return {
    headers: { authorization: `Bearer ${token}` },
    auth: { oauthClient: { id: "me", secret: "secret", issuer: issuer.url } },
    name: `${issuer.url}|ada`,
  };
}

describe.each(["JSONRPC", "HTTP+JSON"] as const)("over %s", (binding) => {
  let issuer: FakeOidcProvider;
  beforeEach(async () => {
    issuer = await FakeOidcProvider.start();
  });
  afterEach(() => issuer[Symbol.asyncDispose]());

  describe.each(Object.keys(AUTH_CASES))("with %s", (kind) => {
    const open = async (): Promise<{ server: AuthTestServer; way: AuthCase }> => {
      const authCase = await (AUTH_CASES[kind] as (issuer: FakeOidcProvider) => Promise<AuthCase>)(issuer);
      return { server: await AuthTestServer.start(authCase.scheme, {}, polite), way: authCase };
    };

    it("the client of @a2a-js/sdk is rejected, sends its credentials, and is accepted [M-01, M-11, A-30]", async () => {
      const { server, way } = await open();
      await using _ = server;
      const challenges: (string | null)[] = [];
      const client = await createOfficialClient(server.url, binding, way.headers, challenges);
      expect(JSON.stringify(await client.sendMessage(createHelloRequest()))).toContain(
        `Hello, ${way.name ?? "ada"}!`,
      );
      expect(challenges).toEqual([expect.stringContaining('realm="a2a"')]);
      const { description } = await client.getAgentCard();
      expect(description).toBe(`Greets ${way.name ?? "ada"}`);
    });

    it("our client finds in the card how to send its credentials [M-01, A-30]", async () => {
      const { server, way } = await open();
      await using _ = server;
      const remote = await connect(server.url, { auth: way.auth, binding });
      expect(JSON.stringify(await remote.send("Hello"))).toContain(`Hello, ${way.name ?? "ada"}!`);
      expect((await remote.getExtendedCard()).description).toBe(`Greets ${way.name ?? "ada"}`);
    });
  });
});

/** Creates an official client that sends these headers after a rejected request. */
async function createOfficialClient(
  url: string,
  binding: "JSONRPC" | "HTTP+JSON",
  credentials: Record<string, string>,
  challenges: (string | null)[],
): Promise<Client> {
  let known = {};
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: () => Promise.resolve(known),
    shouldRetryWithHeaders: (_, response) => {
      if (response.status === 401) challenges.push(response.headers.get("www-authenticate"));
      return Promise.resolve(response.status === 401 ? credentials : undefined);
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
  return await createSdkClient(url, binding, transport);
}

function createHelloRequest(): SendMessageRequest {
  const message = { messageId: crypto.randomUUID(), role: Role.ROLE_USER, parts: [{ text: "Hello" }] };
  return SendMessageRequest.fromJSON({ message });
}
