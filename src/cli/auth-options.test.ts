import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  buildTestAgentCard,
  startRequestRecordingTestServer,
  sendTestJsonResponse,
} from "../client/request-recording-test-server.fixture.ts";
import { FakeOidcProvider } from "../wire/keys/fake-oidc-provider.fixture.ts";
import {
  apiKeys,
  type AuthScheme,
  basic,
  bearer,
  hashPassword,
  generateApiKey,
  oauth2,
} from "../server/auth/index.ts";
import { AuthTestServer } from "../server/auth/auth-test-server.fixture.ts";
import { runCliInTestProcess } from "./cli-test-process.fixture.ts";

let guarded: AuthTestServer | undefined;
afterEach(async () => guarded?.[Symbol.asyncDispose]());

/** Returns the caller name that an agent with this scheme sees for a client with these options. */
async function fetchCallerName(
  scheme: AuthScheme,
  ...options: string[]
): Promise<{ code: number | null; out: string; err: string }> {
  guarded = await AuthTestServer.start(scheme);
  return runCliInTestProcess(["send", guarded.url, "Who am I?", ...options]);
}

const TOKEN = "token-of-ada-0123456789";

describe("credentials on the command line are sent as the card requires", () => {
  it("a bearer token, over either version", async () => {
    for (const version of ["1.0", "0.3"]) {
      const tokens = bearer({ tokens: { [TOKEN]: "ada" } });
      const { code, out } = await fetchCallerName(tokens, "--bearer", TOKEN, "--a2a-version", version);
      expect([code, out]).toEqual([0, expect.stringContaining('"principal":"ada"')]);
      await guarded?.[Symbol.asyncDispose]();
    }
  });

  it("an API key, in the query if the card declares it there", async () => {
    const { key, storedKey } = generateApiKey("ada");
    const { out } = await fetchCallerName(
      apiKeys({ in: "query", name: "k", keys: [storedKey] }),
      "--api-key",
      key,
    );
    expect(out).toContain('"principal":"ada"');
  });

  it("a name and password", async () => {
    const users = { ada: await hashPassword("se:cret") };
    expect((await fetchCallerName(basic({ users }), "--basic", "ada:se:cret")).out).toContain(
      '"principal":"ada"',
    );
  });

  it("a client secret, only to its own authorization server", async () => {
    const issuer = await FakeOidcProvider.start();
    const flows = { clientCredentials: { tokenUrl: `${issuer.url}/token`, scopes: {} } };
    const scheme = (): AuthScheme => oauth2({ issuer: issuer.url, audience: "agents", flows });
    const token = await issuer.signToken({});
    issuer.responseOverrides.set("/token", {
      body: JSON.stringify({ access_token: token, token_type: "Bearer" }),
    });
    const client = ["--oauth-client", "me:secret"];
    const elsewhere = await fetchCallerName(scheme(), ...client);
    expect(elsewhere.code).toBe(4);
    expect(elsewhere.err).toContain("--oauth-issuer");
    expect(elsewhere.err).not.toContain("me:secret");
    await guarded?.[Symbol.asyncDispose]();
    expect((await fetchCallerName(scheme(), ...client, "--oauth-issuer", issuer.url)).code).toBe(0);
    await issuer[Symbol.asyncDispose]();
  });

  it("without credentials, the error lists the required options", async () => {
    const { code, err } = await fetchCallerName(bearer({ tokens: { [TOKEN]: "ada" } }));
    expect(code).toBe(4);
    expect(err).toContain("a bearer token");
    expect(err).toContain("--bearer");
  });

  it("not over clear text, unless --allow-clear-text is passed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "colloquy-"));
    const file = join(folder, "card.json");
    const agent = await startRequestRecordingTestServer((response) =>
      sendTestJsonResponse(response, {}, 500),
    );
    // A non-loopback address of this machine.
    await writeFile(file, JSON.stringify(buildTestAgentCard(agent.url.replace("127.0.0.1", "0.0.0.0"))));
    const send = ["send", file, "hi", "--bearer", TOKEN];
    const refused = await runCliInTestProcess(send);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("--allow-clear-text");
    expect(agent.seen).toEqual([]);
    await runCliInTestProcess([...send, "--allow-clear-text"]);
    expect(agent.seen[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    await rm(folder, { recursive: true });
  });

  it("for a card that requires authentication, too", async () => {
    const closed = await startRequestRecordingTestServer((response, { headers }) => {
      const isKnown = headers.authorization === `Bearer ${TOKEN}`;
      if (!isKnown) response.setHeader("www-authenticate", 'Bearer realm="a2a"');
      sendTestJsonResponse(response, isKnown ? buildTestAgentCard(closed.url) : {}, isKnown ? 200 : 401);
    });
    expect((await runCliInTestProcess(["card", "get", closed.url, "--bearer", TOKEN])).code).toBe(0);
    expect((await runCliInTestProcess(["card", "get", closed.url])).code).toBe(4);
  });
});
