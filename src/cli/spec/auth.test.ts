import { once } from "node:events";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestAgentCard,
  sendTestJsonResponse,
  startRequestRecordingTestServer,
} from "../../client/request-recording-test-server.fixture.ts";
import {
  ADA_CERT,
  ADA_TLS_PRIVATE_KEY,
  TEST_CA_CERT,
  TEST_SERVER_CERT,
  TEST_SERVER_TLS_PRIVATE_KEY,
} from "../../server/auth/certificates.fixture.ts";
import { apiKeys, bearer, generateApiKey, mtls, type AuthScheme } from "../../server/auth/index.ts";
import { AuthTestServer, whoamiTestAgent } from "../../server/auth/auth-test-server.fixture.ts";
import { createServer, toNodeListener, type Server } from "../../server/index.ts";
import {
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../cli-test-process.fixture.ts";
import {
  instructionFollowingTestAgent,
  startInstructionFollowingTestServer,
} from "./test-servers.fixture.ts";
import {
  parseLabeledCliOutputFields,
  runCliExpectingError,
  runCliForJson,
  runCliExpectingSuccess,
} from "./run-command.fixture.ts";

const TOKEN = "token-of-ada-0123456789";
const { key: KEY, storedKey } = generateApiKey("bob");
const HOME = "/nowhere";
const TOKENS = bearer({ tokens: { [TOKEN]: "ada" } });

describe("credentials", () => {
  it.each([
    ["a bearer token", () => TOKENS, "--bearer", "A2ACLI_BEARER", TOKEN, "ada"],
    [
      "an API key in a header",
      () => apiKeys({ in: "header", name: "X-Key", keys: [storedKey] }),
      "--api-key",
      "A2ACLI_API_KEY",
      KEY,
      "bob",
    ],
    [
      "an API key in the query",
      () => apiKeys({ in: "query", name: "k", keys: [storedKey] }),
      "--api-key",
      "A2ACLI_API_KEY",
      KEY,
      "bob",
    ],
    [
      "an API key in a cookie",
      () => apiKeys({ in: "cookie", name: "k", keys: [storedKey] }),
      "--api-key",
      "A2ACLI_API_KEY",
      KEY,
      "bob",
    ],
  ] satisfies [string, () => AuthScheme, string, string, string, string][])(
    "%s goes where the card wants it, from a flag and from its variable [AUTH_001, AUTH_002]",
    async (_, scheme, flag, variable, secret, principal) => {
      await using guarded = await AuthTestServer.start(scheme());
      const words = ["send", guarded.url, "Who am I?"];
      expect((await runCliExpectingSuccess([...words, flag, secret])).out).toContain(
        `"principal":"${principal}"`,
      );
      expect((await runCliExpectingSuccess(words, { env: { HOME, [variable]: secret } })).out).toContain(
        `"principal":"${principal}"`,
      );
      expect(await runCliExpectingError(words)).toMatchObject({ exit: 4 });
    },
  );

  it("a flag overrides its variable [AUTH_002]", async () => {
    await using guarded = await AuthTestServer.start(TOKENS);
    const env = { HOME, A2ACLI_BEARER: "another-token-0123456789" };
    const words = ["send", guarded.url, "Who am I?"];
    expect(await runCliExpectingError(words, { env })).toMatchObject({ code: "A2ACLI_ERR_AUTH_FAILED" });
    expect((await runCliExpectingSuccess([...words, "--bearer", TOKEN], { env })).out).toContain(
      '"principal":"ada"',
    );
  });

  it("in flags are visible to others, as the help of each command warns [AUTH_002]", async () => {
    for (const command of [["send"], ["card", "get"], ["task", "get"], ["chat"]]) {
      const { out } = await runCliExpectingSuccess([...command, "--help"]);
      expect(out).toContain(
        "A credential in a flag is seen in the list of processes and in the shell's history",
      );
      expect(out).toContain("A2ACLI_BEARER");
      expect(out).toContain("A2ACLI_API_KEY");
    }
  });

  it("have their own flags instead of --svc-param in the help [AUTH_001]", async () => {
    const { out } = await runCliExpectingSuccess(["send", "--help"]);
    const [about = ""] = /--svc-param[^]*?(?=\n {2}--)/.exec(out) ?? [];
    expect(about).toContain("service parameter");
    expect(about).not.toMatch(/auth|token|key/i);
  });
});

describe("output", () => {
  it.each([[[]], [["--debug"]], [["--debug", "--verbose", "--stream", "-o", "json"]]])(
    "contains no credential, with %j [AUTH_004]",
    async (flags) => {
      const served = await startInstructionFollowingTestServer();
      const secrets = ["s3cret-token", "k3y-of-mine", "p4ssword", "cl13nt-secret", "tr4ce-secret"];
      const [token = "", key = "", password = "", client = "", trace = ""] = secrets;
      const basic = ["--basic", `ada:${password}`];
      const others = ["--oauth-client", `me:${client}`, "--svc-param", `x-trace: ${trace}`];
      const credentials = ["--bearer", token, "--api-key", key, ...basic, ...others];
      // The agent echoes the credentials, so they are also in the response.
      const { out, err } = await runCliExpectingSuccess([
        "send",
        served.url,
        `I am ${token}`,
        ...credentials,
        ...flags,
      ]);
      for (const secret of [...secrets, Buffer.from(`ada:${password}`).toString("base64")]) {
        expect(err).not.toContain(secret);
      }
      if (flags.length > 0) expect(err).toContain("***");
      expect(out).toContain(`You said: I am ${token}`);
      await served.close();
    },
  );

  it("contains none in errors, and no value of an invalid parameter [AUTH_004]", async () => {
    for (const words of [
      ["send", "http://127.0.0.1:9", "hi", "--bearer", "s3cret-token"],
      ["send", "http://127.0.0.1:9", "hi", "--svc-param", "s3cret-token"],
      ["send", "http://127.0.0.1:9", "hi", "--basic", "s3cret-token"],
    ]) {
      const { out, err } = await runCliInTestProcess(words);
      expect(out + err).not.toContain("s3cret");
    }
  });

  it("--debug shows everything else in requests and responses [OUT_007]", async () => {
    const served = await startInstructionFollowingTestServer();
    const { err } = await runCliExpectingSuccess(["send", served.url, "hello", "--debug"]);
    expect(err).toMatch(/^debug: > POST http:\S+$/m);
    expect(err).toMatch(/^debug: > a2a-version: 1.0$/m);
    expect(err).toMatch(/^debug: > \{"jsonrpc":"2.0",.*"hello"/m);
    expect(err).toMatch(/^debug: POST \S+: 200 in \d+ ms \(text\/event-stream\)$/m);
    expect(err).toMatch(/^debug: < data: .*TASK_STATE_COMPLETED/m);
    expect(err).toContain(`debug: speaks JSONRPC 1.0 with ${served.url}`);
    await served.close();
  });
});

describe("the endpoint of a card", () => {
  /** Starts a host that requires credentials for its card. `challenge` is the `WWW-Authenticate` header. */
  async function startGuardedCard(challenge: string | undefined): Promise<{
    url: string;
    listCredentials: () => unknown[];
  }> {
    let url = "";
    const server = await startRequestRecordingTestServer((response, { headers }) => {
      if (headers.authorization ?? headers["x-api-key"])
        return sendTestJsonResponse(response, buildTestAgentCard(url));
      if (challenge !== undefined) response.setHeader("www-authenticate", challenge);
      sendTestJsonResponse(response, {}, 401);
    });
    ({ url } = server);
    const listCredentials = (): unknown[] =>
      server.seen.flatMap(({ headers }) => headers.authorization ?? headers["x-api-key"] ?? []);
    return { url, listCredentials };
  }

  it.each([
    ['Bearer realm="a"', ["--bearer", TOKEN], [`Bearer ${TOKEN}`]],
    ['Basic realm="a, Bearer b", charset="UTF-8"', ["--bearer", TOKEN], []],
    ['Basic realm="a", Bearer realm="b"', ["--bearer", TOKEN], [`Bearer ${TOKEN}`]],
    ["Basic", ["--basic", "ada:p"], [`Basic ${btoa("ada:p")}`]],
    ['ApiKey realm="a"', ["--api-key", "k"], ["k"]],
    ["Bearer", ["--api-key", "k"], []],
    ["Negotiate", ["--bearer", TOKEN, "--api-key", "k"], []],
    [undefined, ["--bearer", TOKEN, "--api-key", "k", "--basic", "ada:p"], []],
  ])("with the challenge %j gets, of %j, %j [AUTH_008]", async (challenge, flags, sent) => {
    const { url, listCredentials } = await startGuardedCard(challenge);
    const { code } = await runCliInTestProcess(["card", "get", `${url}/card.json`, ...flags]);
    expect([code, listCredentials()]).toEqual([sent.length > 0 ? 0 : 4, sent]);
  });

  it("of an extended card gets none without a scheme of the public card [AUTH_008]", async () => {
    let url = "";
    const server = await startRequestRecordingTestServer((response, { url: path, body }) => {
      const card = buildTestAgentCard(url, { capabilities: { extendedAgentCard: true } });
      const isPublic = path.includes("/.well-known/");
      sendTestJsonResponse(response, isPublic ? card : { jsonrpc: "2.0", id: body.id, result: card });
    });
    ({ url } = server);
    const { err } = await runCliExpectingSuccess(["card", "get", url, "--extended", "--bearer", TOKEN]);
    expect(err).toContain("declares no security scheme, so no credentials are sent");
    expect(server.seen.at(-1)?.body.method).toBe("GetExtendedAgentCard");
    expect(server.seen.flatMap(({ headers }) => headers.authorization ?? [])).toEqual([]);
  });
});

describe("--client-cert", () => {
  it("authenticates over HTTP and gRPC with mutual TLS [AUTH_009]", async () => {
    const https = createHttps({
      cert: TEST_SERVER_CERT,
      key: TEST_SERVER_TLS_PRIVATE_KEY,
      ca: TEST_CA_CERT,
      requestCert: true,
      rejectUnauthorized: false,
    });
    await once(https.listen(0, "127.0.0.1"), "listening");
    const url = `https://127.0.0.1:${(https.address() as AddressInfo).port}`;
    const server = createServer(whoamiTestAgent, { store: "memory", authenticate: mtls(), publicUrl: url });
    https.on("request", server.listener);
    const cwd = await createTempTestDirectoryWithFiles({
      "ada.pem": ADA_CERT,
      "ada.key": ADA_TLS_PRIVATE_KEY,
    });
    const words = ["send", url, "Who am I?", "--insecure"];
    const flags = ["--client-cert", `${cwd}/ada.pem`, "--client-key", `${cwd}/ada.key`];
    expect(await runCliExpectingError(words)).toMatchObject({ exit: 4 });
    expect((await runCliExpectingSuccess([...words, ...flags])).out).toContain("ada");
    expect(await runCliExpectingError([...words, ...flags.slice(0, 2)])).toMatchObject({ exit: 2 });
    expect(await runCliExpectingError([...words, ...flags.slice(0, 3), "/nowhere.key"])).toMatchObject({
      exit: 2,
    });
    https.closeAllConnections();
    https.close();
    await server.close();
  });
});

describe("a task that requires an authorization", () => {
  it("can be waited for until the authorization is granted elsewhere, or answered [AUTH_011]", async () => {
    const served = await startInstructionFollowingTestServer();
    const { out, err } = await runCliExpectingSuccess(["send", served.url, "login"]);
    const { Task: id = "" } = parseLabeledCliOutputFields(out);
    expect(out).toContain("Who are you?");
    const wait = ["task", "wait", served.url, id];
    expect(err).toContain(`${wait.join(" ")} --until-authorized`);
    expect(err).toContain(`send ${served.url} --task-id ${id} "<your answer>"`);
    expect((await runCliExpectingSuccess(wait)).out).toContain("TASK_STATE_AUTH_REQUIRED");
    const waiting = runCliExpectingSuccess([...wait, "--until-authorized", "--poll-interval", "20ms"]);
    await runCliExpectingSuccess(["send", served.url, "--task-id", id, "granted"]);
    expect((await waiting).out).toContain("State: TASK_STATE_COMPLETED");
    await served.close();
  });
});

describe("--insecure", () => {
  let server: Server;
  const https = createHttps({ cert: TEST_SERVER_CERT, key: TEST_SERVER_TLS_PRIVATE_KEY });
  let url = "";

  beforeAll(async () => {
    https.listen(0, "127.0.0.1");
    await once(https, "listening");
    url = `https://127.0.0.1:${(https.address() as AddressInfo).port}`;
    server = createServer(instructionFollowingTestAgent, { store: "memory", publicUrl: url });
    https.on(
      "request",
      toNodeListener((request) => server.fetch(request)),
    );
  });
  afterAll(async () => {
    https.closeAllConnections();
    https.close();
    await server.close();
  });

  it("is required for an untrusted certificate, and prints a warning [AUTH_003]", async () => {
    expect(await runCliExpectingError(["send", url, "hello"])).toMatchObject({
      code: "A2ACLI_ERR_UNREACHABLE",
      exit: 3,
    });
    const { out, err } = await runCliExpectingSuccess(["send", url, "hello", "--insecure"]);
    expect(out).toContain("You said: hello");
    expect(err).toContain("warning: --insecure: certificates are not verified");
    expect(err).not.toContain("CREDENTIALS");
  });

  it("prints a louder warning when credentials are sent [AUTH_003]", async () => {
    for (const flags of [
      ["--bearer", TOKEN],
      ["--api-key", KEY],
      ["--svc-param", "x-key: 1"],
    ]) {
      const { err } = await runCliExpectingSuccess(["card", "get", url, "--insecure", ...flags]);
      expect(err).toContain("YOUR CREDENTIALS GO TO WHOEVER THAT IS");
    }
  });

  it("also applies to gRPC [AUTH_003]", async () => {
    const beside = createServer(instructionFollowingTestAgent, { store: "memory" });
    const { url, grpc } = await beside.listen({
      grpc: { port: 0, tls: { cert: TEST_SERVER_CERT, key: TEST_SERVER_TLS_PRIVATE_KEY } },
    });
    const card = JSON.stringify(await runCliForJson(["card", "get", url]));
    const address = `127.0.0.1:${grpc?.port}`;
    const cwd = await createTempTestDirectoryWithFiles({
      "card.json": card.replaceAll(`"${address}"`, `"https://${address}"`),
    });
    const words = ["send", "-a", `${cwd}/card.json`, "hello", "--transport", "grpc"];
    expect(await runCliExpectingError(words)).toMatchObject({
      exit: 3,
      message: expect.stringContaining("unable to verify the first certificate"),
    });
    expect((await runCliExpectingSuccess([...words, "--insecure"])).out).toContain("You said: hello");
    await beside.close({ graceMs: 50 });
  });

  it("is ignored in a discovered file [AUTH_003]", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ ".env": "A2ACLI_INSECURE=true\n" });
    const { code, err } = await runCliInTestProcess(["card", "get", url], { cwd });
    expect(code).toBe(3);
    expect(err).toContain("warning: A2ACLI_INSECURE in");
    expect(
      (await runCliForJson<{ name: string }>(["card", "get", url, "--config", ".env"], { cwd })).name,
    ).toBe("actor");
  });

  it('default "tls": a trusted certificate requires no flag [DEFAULT_001]', async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "ca.pem": TEST_CA_CERT });
    const { code, out, err } = await spawnColloquyForTest(["send", url, "hello"], cwd, {
      NODE_EXTRA_CA_CERTS: `${cwd}/ca.pem`,
    }).result;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("You said: hello");
    expect((await runCliInTestProcess(["send", url, "hello"])).code).toBe(3);
    expect((await runCliInTestProcess(["send", url, "hello", "--insecure"])).code).toBe(0);
  });
});
