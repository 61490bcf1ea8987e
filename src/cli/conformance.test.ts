import { readFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

const FAILING = ["ANY-SEND-SHAPE", "ANY-CARD-SIGNATURE", "CORE-SEND-001"];

describe("colloquy conformance", () => {
  it("checks an agent, and separates what it could not verify [CONFORM_001]", async () => {
    const { code, out } = await runCliInTestProcess(["conformance", url, "--only", ...FAILING]);
    expect(out).toContain("jsonrpc 1.0: must 1 passed, 0 failed, 2 not verified");
    expect(out).toContain("No test of the level must failed.");
    expect(code).toBe(0);
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
    const other = createHttpServer((request, response) => {
      received.push(request.headers.authorization);
      // The body is shorter than announced.
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write("{", () => response.destroy());
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as AgentCardJson;
    const [first] = card.supportedInterfaces;
    card.supportedInterfaces = [{ ...first, url: `http://127.0.0.1:${port}/`, protocolBinding: "JSONRPC" }];
    const cards = createHttpServer((_, response) => void response.end(JSON.stringify(card)));
    await new Promise<void>((resolve) => cards.listen(0, "127.0.0.1", resolve));
    const cardUrl = `http://127.0.0.1:${(cards.address() as AddressInfo).port}`;
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
    await runCliInTestProcess([...words, "--trust-origin", `http://127.0.0.1:${port}`]);
    other.close();
    cards.close();
    expect(received).toContain("Bearer SECRET");
    expect(untrusted.length).toBeGreaterThan(0);
    expect(untrusted.every((authorization) => authorization === undefined)).toBe(true);
    expect(out).toContain("The response ended early");
    expect(code).toBe(1);
  });
});
