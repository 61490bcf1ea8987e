import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { isWindows } from "../../../test/support/is-windows.ts";
import {
  type CliTestProcessResult,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../cli-test-process.fixture.ts";
import { runCli } from "../main.ts";
import { FakeAuthorizationServer, refuse } from "./fake-authorization-server.fixture.ts";
import {
  createClientScheme,
  createCodeScheme,
  createDeviceScheme,
  createOpenIdScheme,
  type ProtectedTestAgent,
  startProtectedTestAgent,
} from "./protected-agent.fixture.ts";

/** A user with an own home folder. */
class TestUser {
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  static async create(): Promise<TestUser> {
    return new TestUser(await createTempTestDirectoryWithFiles({}));
  }

  get file(): string {
    return `${this.#home}/.config/a2a-cli/colloquy-logins.json`;
  }

  readLogins(): Record<string, unknown>[] {
    return (JSON.parse(readFileSync(this.file, "utf8")) as { logins: Record<string, unknown>[] }).logins;
  }

  /** Replaces members of the only login. */
  changeLogin(change: object): void {
    const [login] = this.readLogins();
    writeFileSync(this.file, JSON.stringify({ version: 1, logins: [{ ...login, ...change }] }));
  }

  run(...args: string[]): Promise<CliTestProcessResult> {
    return runCliInTestProcess(args, { env: { HOME: this.#home } });
  }

  /** Runs `auth login`, and visits the page that the command prints. Returns the answers of the pages, too. */
  async logInWithBrowser(
    agentUrl: string,
    visit: (url: string) => Promise<unknown>,
    ...flags: string[]
  ): Promise<CliTestProcessResult> {
    const result = { code: 0, out: "", err: "" };
    let visiting: Promise<unknown> | undefined;
    const err = (text: string): void => {
      result.err += text;
      const [url] = /^http:\S+\/authorize\S*$/m.exec(result.err) ?? [];
      if (url !== undefined) visiting ??= visit(url);
    };
    result.code = await runCli(["auth", "login", agentUrl, "--oauth-client", "cli", ...flags], {
      streams: { out: (text) => void (result.out += text), err },
      stdin: Readable.from([]),
      isInteractive: false,
      interruptSignal: new AbortController().signal,
      env: { HOME: this.#home },
      cwd: process.cwd(),
    });
    await visiting;
    return result;
  }
}

async function startDeviceAgent(): Promise<{
  server: FakeAuthorizationServer;
  agent: ProtectedTestAgent;
  user: TestUser;
}> {
  const server = await FakeAuthorizationServer.start();
  const agent = await startProtectedTestAgent(server, createDeviceScheme(server.url));
  return { server, agent, user: await TestUser.create() };
}

const logIn = (user: TestUser, agent: { url: string }, ...flags: string[]): Promise<CliTestProcessResult> =>
  user.run("auth", "login", agent.url, "--oauth-client", "cli", ...flags);

describe("auth login with a device code", () => {
  it("shows the code, and later commands send the token [AUTH_005, AUTH_007]", async () => {
    const { server, agent, user } = await startDeviceAgent();
    expect(await user.run("task", "get", agent.url, "t")).toMatchObject({ code: 4 });
    const { code, out, err } = await logIn(user, agent);
    expect({ code, err }).toEqual({
      code: 0,
      err: `Log in to ${agent.url}: open ${server.url}/enter in a browser, and enter the code ABCD-EFGH\n`,
    });
    expect(out).toMatch(/^Logged in: http:\S+\nScheme: login\nExpires: \d{4}-\S+Z\nFile: \S+\n$/);
    expect(server.forms[0]?.form).toEqual({ client_id: "cli", scope: "use" });
    expect(await user.run("task", "get", agent.url, "t")).toMatchObject({ code: 0 });
    expect(server.accepts(agent.listAuthorizations().at(-1))).toBe(true);
    // Only the agent gets the token, and not the endpoint of its card.
    expect(
      agent.seen.filter(({ url, headers }) => url.includes("well-known") && headers.authorization),
    ).toEqual([]);
  });

  it("never prints a token, not even in logs and records [AUTH_004, AUTH_007]", async () => {
    const { server, agent, user } = await startDeviceAgent();
    const record = `${await createTempTestDirectoryWithFiles({})}/record.jsonl`;
    const login = await logIn(user, agent, "--debug");
    user.changeLogin({ expiresAt: 1 });
    const call = await user.run("task", "get", agent.url, "t", "--debug", "--verbose", "--record", record);
    const shown = await user.run("config", "show");
    expect([login.code, call.code, shown.code]).toEqual([0, 0, 0]);
    expect(server.grants).toEqual(["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]);
    const texts = [login.out, login.err, call.out, call.err, shown.out, readFileSync(record, "utf8")].join(
      "\n",
    );
    expect(texts).not.toMatch(/access-[\da-f]|refresh-[\da-f]|device-secret/);
    expect(shown.out).toContain(`Login ${agent.url} login: expires `);
  });

  it("shows texts of the server without control characters", async () => {
    const { server, agent, user } = await startDeviceAgent();
    server.scriptedResponses.set("/token", [refuse("server_error", "\u001b[2Jgone\u202e")]);
    const { code, err } = await logIn(user, agent);
    expect(code).toBe(4);
    // oxlint-disable-next-line no-control-regex -- that is what must not be there
    expect(err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(err).toContain("gone");
  });

  it("requires a client, and a scheme with a login", async () => {
    const { server, agent, user } = await startDeviceAgent();
    expect(await user.run("auth", "login", agent.url)).toMatchObject({ code: 2 });
    expect(await logIn(user, agent, "--scheme", "other")).toMatchObject({
      code: 2,
      err: expect.stringContaining("It has login.") as string,
    });
    expect(await logIn(user, agent, "--flow", "browser")).toMatchObject({
      code: 2,
      err: expect.stringContaining("only the flow device") as string,
    });
    const open = await startProtectedTestAgent(server, { httpAuthSecurityScheme: { scheme: "bearer" } });
    expect(await logIn(user, open)).toMatchObject({
      code: 2,
      err: expect.stringContaining("no OAuth 2.0") as string,
    });
  });
});

describe("auth login with a client secret", () => {
  it("stores a token, and requests another one when it has expired [AUTH_006, AUTH_007]", async () => {
    const server = await FakeAuthorizationServer.start();
    const agent = await startProtectedTestAgent(server, createClientScheme(server.url));
    const user = await TestUser.create();
    expect(await logIn(user, agent)).toMatchObject({ code: 2 });
    const flags = ["--oauth-client", "robot:s3cret", "--oauth-issuer", server.url];
    // The secret is not sent to a server that only the card names.
    const refused = await user.run("auth", "login", agent.url, "--oauth-client", "robot:s3cret");
    expect([refused.code, server.forms]).toEqual([4, []]);
    const { code, out } = await user.run("auth", "login", agent.url, ...flags);
    expect([code, out]).toEqual([0, expect.stringContaining("Scheme: login")]);
    expect(server.forms).toMatchObject([
      {
        form: { grant_type: "client_credentials", scope: "use" },
        authorization: `Basic ${btoa("robot:s3cret")}`,
      },
    ]);
    expect(await user.run("task", "get", agent.url, "t")).toMatchObject({ code: 0 });
    user.changeLogin({ expiresAt: 1 });
    expect(await user.run("task", "get", agent.url, "t")).toMatchObject({ code: 0 });
    expect(server.grants).toEqual(["client_credentials", "client_credentials"]);
  });
});

describe("auth login with a browser", () => {
  it("binds the code to this process with PKCE, and the token is sent [AUTH_010, AUTH_007]", async () => {
    const server = await FakeAuthorizationServer.start();
    const agent = await startProtectedTestAgent(server, createOpenIdScheme(server.url));
    const user = await TestUser.create();
    const { code, err } = await user.logInWithBrowser(agent.url, (url) => fetch(url));
    expect(code).toBe(0);
    const page = new URL(/^http\S+\/authorize\S*$/m.exec(err)?.[0] ?? "");
    expect(Object.fromEntries(page.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "cli",
      scope: "openid use",
      code_challenge_method: "S256",
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/) as string,
    });
    expect(server.forms[0]?.form["code_verifier"]).toMatch(/^[\w-]{43}$/);
    expect(await user.run("task", "get", agent.url, "t")).toMatchObject({ code: 0 });
  });

  it("uses the device code if the OpenID provider supports it, and --flow selects [AUTH_010]", async () => {
    const server = await FakeAuthorizationServer.start();
    server.metadata = { device_authorization_endpoint: `${server.url}/device` };
    const agent = await startProtectedTestAgent(server, createOpenIdScheme(server.url));
    const user = await TestUser.create();
    expect((await logIn(user, agent)).err).toContain("ABCD-EFGH");
    const { code } = await user.logInWithBrowser(agent.url, (url) => fetch(url), "--flow", "browser");
    expect(code).toBe(0);
    expect(server.grants.at(-1)).toBe("authorization_code");
  });

  it("ignores requests with another state, which any web page can send", async () => {
    const server = await FakeAuthorizationServer.start();
    const agent = await startProtectedTestAgent(server, createCodeScheme(server.url));
    const user = await TestUser.create();
    const statuses: number[] = [];
    const { code } = await user.logInWithBrowser(agent.url, async (url) => {
      const callback = new URL(url).searchParams.get("redirect_uri") ?? "";
      for (const stranger of [
        callback,
        `${callback}?code=evil&state=evil`,
        callback.replace("callback", "other"),
      ])
        statuses.push((await fetch(stranger)).status);
      statuses.push((await fetch(callback, { method: "POST" })).status, (await fetch(url)).status);
    });
    expect([code, statuses]).toEqual([0, [400, 400, 404, 404, 200]]);
  });

  it.each([
    ["another issuer [AUTH_010]", { iss: "https://evil.example" }, "a different server"],
    ["an error", { error: "access_denied", code: "" }, "The login was denied."],
    ["an error with control characters", { error: "bad\u001b[2J", code: "" }, "bad"],
    ["no code", { code: "" }, "The server returned no code."],
    ["a code of another login", { code: "stolen" }, "invalid_grant"],
  ])("fails if the server returns %s", async (_, redirectParameters, message) => {
    const server = await FakeAuthorizationServer.start();
    server.redirectParameters = redirectParameters;
    const agent = await startProtectedTestAgent(server, createOpenIdScheme(server.url));
    const user = await TestUser.create();
    const { code, err } = await user.logInWithBrowser(agent.url, (url) => fetch(url));
    expect(code).toBe(4);
    expect(err).toContain(message);
    expect(err).not.toContain("\u001b");
  });

  it("requires the issuer in the redirect if the server announces it [AUTH_010]", async () => {
    const server = await FakeAuthorizationServer.start();
    server.metadata = { authorization_response_iss_parameter_supported: true };
    const agent = await startProtectedTestAgent(server, createOpenIdScheme(server.url));
    const user = await TestUser.create();
    expect((await user.logInWithBrowser(agent.url, (url) => fetch(url))).code).toBe(4);
    server.redirectParameters = { iss: server.url };
    expect((await user.logInWithBrowser(agent.url, (url) => fetch(url))).code).toBe(0);
  });

  it("rejects metadata of another issuer, and servers without PKCE [AUTH_010]", async () => {
    const server = await FakeAuthorizationServer.start();
    const agent = await startProtectedTestAgent(server, createOpenIdScheme(server.url));
    const user = await TestUser.create();
    server.metadata = { issuer: "https://evil.example" };
    expect((await logIn(user, agent)).err).toContain("metadata of a different issuer");
    server.metadata = { code_challenge_methods_supported: ["plain"] };
    expect((await logIn(user, agent)).err).toContain("does not support PKCE");
    expect(server.forms).toEqual([]);
  });

  it("rejects a card whose login page and token endpoint are on different servers", async () => {
    const [server, good] = [await FakeAuthorizationServer.start(), await FakeAuthorizationServer.start()];
    const agent = await startProtectedTestAgent(server, createCodeScheme(server.url, good.url));
    const user = await TestUser.create();
    expect(await logIn(user, agent)).toMatchObject({
      code: 1,
      err: expect.stringContaining("could expose your login") as string,
    });
    const honest = await startProtectedTestAgent(server, createCodeScheme(server.url));
    expect(await logIn(user, honest, "--oauth-issuer", good.url)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`and not at ${good.url}`) as string,
    });
  });
});

describe("a stored login", () => {
  it("is used only at its origin, whatever cards name [AUTH_007]", async () => {
    const { server, agent, user } = await startDeviceAgent();
    await logIn(user, agent);
    const thief = await startProtectedTestAgent(server, createDeviceScheme(server.url));
    expect(await user.run("task", "get", thief.url, "t")).toMatchObject({ code: 4 });
    expect(thief.listAuthorizations()).toEqual([undefined]);
    // The card at the origin of the login names an agent at another origin.
    const supportedInterfaces = [
      { url: `${thief.url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ];
    const moved = await startProtectedTestAgent(server, createDeviceScheme(server.url), {
      supportedInterfaces,
    });
    await logIn(user, moved);
    expect(await user.run("task", "get", moved.url, "t")).toMatchObject({
      code: 1,
      err: expect.stringContaining("--trust-origin") as string,
    });
    expect(thief.listAuthorizations()).toEqual([undefined]);
    expect(await user.run("task", "get", moved.url, "t", "--trust-origin", thief.url)).toMatchObject({
      code: 0,
    });
  });

  it("is used for a card in a file, at the origin that the card names [AUTH_007]", async () => {
    const { agent, user } = await startDeviceAgent();
    const card = (await user.run("card", "get", agent.url, "-o", "json")).out;
    const folder = await createTempTestDirectoryWithFiles({ "card.json": card });
    expect(await logIn(user, { url: `${folder}/card.json` })).toMatchObject({
      code: 0,
      out: expect.stringContaining(`Logged in: ${agent.url}\n`) as string,
    });
    expect(await user.run("task", "get", `${folder}/card.json`, "t")).toMatchObject({ code: 0 });
  });

  it("is not used if the command has other credentials [AUTH_007]", async () => {
    const { agent, user } = await startDeviceAgent();
    await logIn(user, agent);
    expect(await user.run("task", "get", agent.url, "t", "--bearer", "mine")).toMatchObject({ code: 4 });
    expect(agent.listAuthorizations()).toEqual(["Bearer mine"]);
  });

  it("is renewed when the agent rejects its token, and the new token is stored [AUTH_007]", async () => {
    const { server, agent, user } = await startDeviceAgent();
    await logIn(user, agent);
    const [before] = user.readLogins();
    server.revokeTokens();
    expect(await user.run("task", "get", agent.url, "t")).toMatchObject({ code: 0 });
    expect(agent.listAuthorizations()).toEqual([
      `Bearer ${String(before?.["accessToken"])}`,
      `Bearer ${String(user.readLogins()[0]?.["accessToken"])}`,
    ]);
    expect(server.forms.at(-1)?.form).toEqual({
      client_id: "cli",
      grant_type: "refresh_token",
      refresh_token: before?.["refreshToken"],
    });
  });

  it("is renewed by one of two commands that run at the same time [AUTH_007]", async () => {
    const { agent, user } = await startDeviceAgent();
    await logIn(user, agent);
    user.changeLogin({ expiresAt: 1 });
    const runs = await Promise.all([1, 2].map(() => user.run("task", "get", agent.url, "t")));
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(user.readLogins()).toHaveLength(1);
  });

  it("ends when the server refuses to renew it [AUTH_007]", async () => {
    const { server, agent, user } = await startDeviceAgent();
    await logIn(user, agent);
    server.revokeTokens();
    user.changeLogin({ refreshToken: "unknown" });
    const ended = {
      code: 4,
      err: expect.stringMatching(/has ended.*AUTH_FAILED\)\nhint: Run colloquy auth login/),
    };
    expect(await user.run("task", "get", agent.url, "t")).toMatchObject(ended);
    user.changeLogin({ refreshToken: null });
    expect(await user.run("task", "get", agent.url, "t")).toMatchObject(ended);
    expect(server.grants).toHaveLength(2);
  });

  it.skipIf(isWindows)(
    "is in a file that only its user can read, and is refused otherwise [AUTH_007]",
    async () => {
      const { agent, user } = await startDeviceAgent();
      await logIn(user, agent);
      expect(statSync(user.file).mode & 0o777).toBe(0o600);
      for (const mode of [0o640, 0o604, 0o620]) {
        chmodSync(user.file, mode);
        for (const words of [
          ["task", "get", agent.url, "t"],
          ["config", "show"],
          ["auth", "logout", "--all"],
        ])
          expect(await user.run(...words)).toMatchObject({
            code: 2,
            err: expect.stringContaining(`chmod 600 ${user.file}`) as string,
          });
      }
      expect(agent.listAuthorizations()).toEqual([]);
      chmodSync(user.file, 0o600);
      writeFileSync(user.file, '{"version":1,"logins":[{"origin":7}]}');
      expect(await user.run("task", "get", agent.url, "t")).toMatchObject({
        code: 2,
        err: expect.stringContaining("Delete it") as string,
      });
    },
  );

  it("is listed by config show, and deleted by auth logout [AUTH_007]", async () => {
    const { server, agent, user } = await startDeviceAgent();
    const other = await startProtectedTestAgent(server, createDeviceScheme(server.url));
    await logIn(user, agent);
    await logIn(user, other);
    const shown = JSON.parse((await user.run("config", "show", "-o", "json")).out) as { logins: unknown[] };
    expect(shown.logins).toMatchObject([
      { origin: agent.url, scheme: "login" },
      { origin: other.url, scheme: "login" },
    ]);
    expect(await user.run("auth", "logout")).toMatchObject({ code: 2 });
    expect((await user.run("auth", "logout", agent.url)).out).toBe(`Logged out: ${agent.url} (login)\n`);
    expect(await user.run("task", "get", agent.url, "t")).toMatchObject({ code: 4 });
    expect(await user.run("task", "get", other.url, "t")).toMatchObject({ code: 0 });
    expect((await user.run("auth", "logout", other.url, "--scheme", "x")).out).toBe("Logged out: none\n");
    expect((await user.run("auth", "logout", "--all")).out).toBe(`Logged out: ${other.url} (login)\n`);
    expect(user.readLogins()).toEqual([]);
  });
});
