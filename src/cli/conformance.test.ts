import { readFile } from "node:fs/promises";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import { createServer, type Server } from "../server/index.ts";
import { createTempTestDirectoryWithFiles, runCliInTestProcess } from "./cli-test-process.fixture.ts";

let server: Server;
let url: string;
beforeAll(async () => {
  const greeter = agent({ name: "greeter", description: "Greets" }, async function* greet() {
    yield "Hello.";
  });
  server = createServer(greeter, { store: "memory", observer: false });
  ({ url } = await server.listen());
});
afterAll(() => server.close());

interface AgentCardJson {
  supportedInterfaces: Record<string, unknown>[];
}

/** Starts a server, which replies with `card` to GET requests, if `card` is text. */
async function startStranger(card: string | undefined, listener: RequestListener): Promise<string> {
  const stranger = createHttpServer((request, response) => {
    if (request.method === "GET" && card !== undefined)
      response.setHeader("content-type", "application/json").end(card.replaceAll("ORIGIN", origin));
    else listener(request, response);
  });
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    stranger.closeAllConnections();
    stranger.close();
  });
  const origin = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  return origin;
}

const FAILING = ["ANY-SEND-SHAPE", "ANY-CARD-SIGNATURE", "CORE-SEND-001"];

/** Returns the card of the server, with one interface. */
async function createCardWithUrl(interfaceUrl: string): Promise<string> {
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as AgentCardJson;
  const [first] = card.supportedInterfaces;
  card.supportedInterfaces = [{ ...first, url: interfaceUrl, protocolBinding: "JSONRPC" }];
  return JSON.stringify(card);
}

describe("colloquy conformance", () => {
  it("checks an agent, and separates what it could not verify [CONFORM_001]", async () => {
    const { code, out } = await runCliInTestProcess(["conformance", url, "--only", ...FAILING]);
    expect(out).toContain("jsonrpc 1.0: must 1 passed, 0 failed, 2 not verified");
    expect(out).toContain("No test of the level must failed.");
    expect(code).toBe(0);
  });

  it("has a webhook for an agent of this machine, also without http:// in the URL", async () => {
    const words = ["--only", "PUSH-DELIV-001", "--binding", "jsonrpc", "--behaviors", "all"];
    const { out } = await runCliInTestProcess(["conformance", new URL(url).host, ...words]);
    expect(out).toContain("PUSH-DELIV-001");
    expect(out).not.toContain("no webhook receiver");
  });

  it("prints JSON, and writes JUnit, SARIF, and a badge", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const files = ["--junit", "a.xml", "--sarif", "a.sarif", "--badge", "a.svg"];
    const words = ["conformance", url, "-o", "json", "--binding", "rest", "--only", ...FAILING, ...files];
    const { code, out } = await runCliInTestProcess(words, { cwd });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ url, problems: [], reports: [{ transport: "rest" }] });
    const [junit, sarif, badge] = await Promise.all(
      ["a.xml", "a.sarif", "a.svg"].map((name) => readFile(join(cwd, name), "utf8")),
    );
    expect(junit).toContain('skipped="2"');
    expect(JSON.parse(sarif ?? "")).toMatchObject({ version: "2.1.0" });
    expect(badge).toContain("1 must passed, 2 not verified");
  });

  it("checks the resilience with one message, and all reports have the checks", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = ["conformance", url, "--resilience", "--only", "RES-LEAVE", "RES-PAGES"];
    const { code, out } = await runCliInTestProcess([...words, "--junit", "a.xml"], { cwd });
    expect(out).toContain("passed       RES-LEAVE: A task continues");
    expect(out).toContain("not verified RES-PAGES: The check sends other messages");
    expect(code).toBe(0);
    expect(await readFile(join(cwd, "a.xml"), "utf8")).toContain(
      'tests="2" failures="0" errors="0" skipped="1"',
    );
    const json = await runCliInTestProcess([...words, "-o", "json"]);
    const [report] = (JSON.parse(json.out) as { reports: { suites: { tests: object[] }[] }[] }).reports;
    expect(report?.suites[0]?.tests[0]).toMatchObject({
      result: "pass",
      exchanges: expect.arrayContaining([expect.stringContaining("GetTask")]) as string[],
    });
    expect((await runCliInTestProcess([...words, "--markdown"])).out).toContain("| RES-LEAVE | passed |");
  });

  it("runs the restart command, and reports its failure", async () => {
    const words = ["conformance", url, "--resilience", "--yes", "--only", "RES-RESTART"];
    const { out } = await runCliInTestProcess([...words, "--restart-command", "echo broken >&2; exit 3"]);
    expect(out).toContain(
      "not verified RES-RESTART: The runner failed: Command failed with exit code 3: echo",
    );
  });

  it("continues although the restart command leaves a server in the background", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = ["conformance", url, "--resilience", "--yes", "--only", "RES-RESTART"];
    const command = "sleep 600 & echo $! > server.pid";
    const { out } = await runCliInTestProcess([...words, "--restart-command", command], { cwd });
    process.kill(Number(await readFile(join(cwd, "server.pid"), "utf8")));
    expect(out).toContain("passed       RES-RESTART");
  });

  it("fails for an expected failure that passes, an unknown test, and an unreachable agent", async () => {
    const entry = { test: "ANY-SEND-SHAPE", bindings: ["jsonrpc"], outcome: "failed", reason: "known" };
    const cwd = await createTempTestDirectoryWithFiles({ "known.json": JSON.stringify([entry]) });
    const only = ["--binding", "jsonrpc", "--only", "ANY-SEND-SHAPE"];
    const run = (...words: string[]): Promise<{ code: number | null }> =>
      runCliInTestProcess(["conformance", ...words], { cwd });
    expect((await run(url, ...only, "--expected-failures", "known.json")).code).toBe(1);
    expect((await run(url, "--only", "NO-TEST")).code).toBe(2);
    expect((await run("http://127.0.0.1:1", ...only)).code).toBe(3);
  });

  it("fails if nothing of a binding is verified, and for an expectation of a test that does not exist", async () => {
    const none = await runCliInTestProcess(["conformance", url, "--binding", "grpc"]);
    expect(none.out).toContain("Nothing of grpc 1.0 is verified");
    expect(none.code).toBe(1);
    const entry = { test: "ANY-TYPO", bindings: ["jsonrpc"], outcome: "failed", reason: "known" };
    const cwd = await createTempTestDirectoryWithFiles({
      "known.json": JSON.stringify([entry]),
      "wrong.json": JSON.stringify([{ ...entry, outcome: "fails" }]),
    });
    const words = ["conformance", url, "--binding", "jsonrpc", "--expected-failures"];
    const unknown = await runCliInTestProcess([...words, "known.json"], { cwd });
    expect(unknown.out).toContain("ANY-TYPO");
    expect(unknown.code).toBe(1);
    expect((await runCliInTestProcess([...words, "wrong.json"], { cwd })).code).toBe(2);
  });

  it("sends the token only to the host and port of the card, and continues after a broken response", async () => {
    const received: (string | undefined)[] = [];
    const other = await startStranger(undefined, (request, response) => {
      received.push(request.headers.authorization);
      // The body is shorter than announced.
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write("{", () => response.destroy());
    });
    const cardUrl = await startStranger(await createCardWithUrl(`${other}/`), () => {});
    const words = [
      "conformance",
      cardUrl,
      "--bearer",
      "SECRET",
      "--markdown",
      "--only",
      "ANY-SEND-SHAPE",
      "ANY-GET-UNKNOWN",
    ];
    const { code, out } = await runCliInTestProcess(words);
    const untrusted = received.splice(0);
    await runCliInTestProcess([...words, "--trust-origin", other]);
    expect(received).toContain("Bearer SECRET");
    expect(untrusted.length).toBeGreaterThan(0);
    expect(untrusted.every((authorization) => authorization === undefined)).toBe(true);
    expect(out).toContain("The response ended early");
    expect(code).toBe(1);
  });

  it.each([
    ["application/json", '{"jsonrpc": "2.0", "result": "', "ANY-SEND-SHAPE"],
    ["text/event-stream", "data: ", "ANY-STREAM-SHAPE"],
  ])("reads at most 16 MiB of a response of the type %s", async (type, beginning, rule) => {
    const closed = Promise.withResolvers<void>();
    const stranger = await startStranger(await createCardWithUrl("ORIGIN/"), (_, response) => {
      const chunk = "x".repeat(2 ** 20);
      const send = (): void => void response.write(chunk, (error) => (error ? closed.resolve() : send()));
      response.writeHead(200, { "content-type": type });
      response.write(beginning, send);
    });
    const { code, out } = await runCliInTestProcess(["conformance", stranger, "--only", rule]);
    expect(out).toContain("The response has more than 16777216 bytes.");
    expect(code).toBe(1);
    // The rest is not sent.
    await closed.promise;
  });

  it.each(["<html>", "[]", '{"name": 1}', "null"])(
    "reports the card %s, which no client can read",
    async (card) => {
      const stranger = await startStranger(card, (_, response) => void response.writeHead(404).end());
      const { code, out } = await runCliInTestProcess(["conformance", stranger]);
      expect(out).toContain("failed ANY-CARD-SHAPE on jsonrpc 1.0");
      expect(out).toContain("GET ORIGIN/.well-known/agent-card.json".replace("ORIGIN", stranger));
      expect(code).toBe(1);
    },
  );
});
