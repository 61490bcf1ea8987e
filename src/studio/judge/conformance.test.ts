import { globSync, readFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { CORE_SCHEMA, load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startBreakingProxy } from "../../../lab/acts/broken/proxy.ts";
import { PLANTED_DEFECTS } from "../../../lab/acts/broken/planted-defects.ts";
import { agent } from "../../agents/adapters/index.ts";
import { serveWithOfficialSdk } from "../../client/a2a-js-server.fixture.ts";
import { createServer } from "../../server/index.ts";
import {
  judgeConformance,
  listFindings,
  listProblems,
  loadCorpus,
  renderBadge,
  renderMarkdown,
  renderSarif,
  type BindingReport,
  type Corpus,
  type JudgedRun,
} from "./index.ts";
import texts from "./rules/rules.json" with { type: "json" };

let corpus: Corpus;
const servers: { readonly url: string; readonly name: string; readonly close: () => Promise<void> }[] = [];

beforeAll(async () => {
  // The official server logs each error response before a stream starts.
  vi.spyOn(console, "error").mockReturnValue();
  corpus = await loadCorpus(
    (text) => load(text, { schema: CORE_SCHEMA }),
    new URL("../../../acts/suites/suite.acts.yaml", import.meta.url),
  );
  const greeter = agent({ name: "greeter", description: "Greets" }, async function* greet() {
    yield "Hello, ";
    yield "you.";
  });
  const server = createServer(greeter, { store: "memory", observer: false });
  const { url } = await server.listen({ grpc: true });
  servers.push({ name: "colloquy", url, close: () => server.close() });
  servers.push({ name: "@a2a-js/sdk", ...(await serveWithOfficialSdk()) });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await Promise.all(servers.map(({ close }) => close()));
});

const judge = (url: string): Promise<readonly BindingReport[]> =>
  judgeConformance({ url, corpus, message: "Hello" });
const listIds = (reports: readonly BindingReport[]): string[] =>
  listFindings({ url: "", reports, expected: [] }).map(
    ({ result, report }) => `${result.test.id} ${report.binding} ${result.test.level}: ${result.reason}`,
  );

describe("an agent whose card has its own URL", () => {
  it.each(["/.well-known/agent-card.json?assistant_id=second", "/cards/second.json"])(
    "is judged by the card at %s",
    async (path) => {
      const host = createHttpServer(({ url, headers }, response) => {
        const name = url === path ? "second" : "first";
        const agentInterface = {
          url: `http://${headers.host}/`,
          protocolBinding: "JSONRPC",
          protocolVersion: "1.0",
        };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ name, supportedInterfaces: [agentInterface] }));
      });
      await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
      const { port } = host.address() as AddressInfo;
      const [report] = await judgeConformance({
        url: `http://127.0.0.1:${port}${path}`,
        corpus,
        message: "Hello",
        only: ["ANY-CARD-MEDIA"],
      });
      host.close();
      host.closeAllConnections();
      expect(report?.results[0]?.exchanges?.join("")).toContain('"second"');
    },
  );
});

describe("colloquy on product defaults", () => {
  it("fails no test on any binding", async () => {
    const reports = await judge(servers[0]?.url ?? "");
    expect(reports.map(({ binding, version }) => `${binding} ${version}`)).toEqual([
      "jsonrpc 1.0",
      "rest 1.0",
      "grpc 1.0",
      "jsonrpc 0.3",
      "rest 0.3",
      "grpc 0.3",
    ]);
    expect(listIds(reports)).toEqual([]);
    const passed = reports.flatMap(({ results }) => results.filter(({ outcome }) => outcome === "passed"));
    expect(passed.length).toBeGreaterThan(130);
  });
});

describe("the official SDK", () => {
  it("fails only what was confirmed by hand", async () => {
    const findings = listIds(await judge(servers[1]?.url ?? ""));
    expect(findings).toEqual([
      // A2A §4.1.4 requires parts, and §3.3.2 requires validation.
      "ANY-SEND-NO-PARTS jsonrpc must: The server accepted a message without parts.",
      // A2A §3.6: patch numbers must not be considered.
      "ANY-VERSION-PATCH jsonrpc must: The server rejects the version 1.0.9.",
      "ANY-SEND-NO-PARTS rest must: The server accepted a message without parts.",
      "ANY-SEND-NO-PARTS grpc must: The server accepted a message without parts.",
    ]);
  });
});

describe("each planted defect fails the rule that passes without it", () => {
  // The official SDK has one of the defects itself.
  const listDefects = (server: string): typeof PLANTED_DEFECTS =>
    PLANTED_DEFECTS.filter(({ seenBy }) => server === "colloquy" || seenBy !== "ANY-VERSION-PATCH");

  it("20 defects are planted", () => {
    expect(listDefects("@a2a-js/sdk")).toHaveLength(20);
  });

  it.each(
    ["colloquy", "@a2a-js/sdk"].flatMap((name) =>
      listDefects(name).map((defect) => [name, defect.name, defect] as const),
    ),
  )("%s %s", async (serverName, _name, defect) => {
    const { url = "" } = servers.find(({ name }) => name === serverName) ?? {};
    const proxy = await startBreakingProxy(url, defect);
    try {
      const only = [defect.seenBy];
      const before = await judgeConformance({
        url,
        corpus,
        message: "Hello",
        only,
        bindings: [defect.binding],
      });
      const after = await judgeConformance({
        url: proxy.url,
        corpus,
        message: "Hello",
        only,
        bindings: [defect.binding],
      });
      const outcomes = [before, after].map((reports) =>
        reports.flatMap(({ results }) => results.map(({ outcome }) => outcome)),
      );
      expect(outcomes).toEqual([["passed"], ["failed"]]);
    } finally {
      proxy.close();
    }
  });
});

describe("each defect of A2A 0.3 fails its rule", () => {
  it.each<[id: string, keepsEvent: (event: string) => boolean]>([
    ["V03-STREAM-END", (event) => !event.includes('"final":true')],
    ["V03-STREAM-STORED", (event) => !event.includes("you.")],
  ])("%s", async (id, keepsEvent) => {
    const { url = "" } = servers[0] ?? {};
    const proxy = await startBreakingProxy(url, { keepsEvent });
    const options = { corpus, message: "Hello", only: [id], bindings: ["jsonrpc"] as const };
    try {
      const outcomes = [url, proxy.url].map(async (target) => {
        const [report] = await judgeConformance({ url: target, ...options });
        return [report?.version, report?.results[0]?.outcome];
      });
      expect(await Promise.all(outcomes)).toEqual([
        ["0.3", "passed"],
        ["0.3", "failed"],
      ]);
    } finally {
      proxy.close();
    }
  });
});

describe("an error as the first event of a stream", () => {
  it.each([
    ["jsonrpc", "passed"],
    ["rest", "failed"],
  ] as const)(
    "on %s has %s the rule, because HTTP+JSON maps errors to statuses",
    async (binding, outcome) => {
      const proxy = await startBreakingProxy(servers[0]?.url ?? "", {
        changeResponse: (response, { path, body }) =>
          /subscribe/i.test(path + body)
            ? { status: 200, contentType: "text/event-stream", body: `data: ${response.body}\n\n` }
            : response,
      });
      try {
        const only = ["ANY-SUBSCRIBE-MISSING"];
        const options = { url: proxy.url, corpus, message: "Hello", only, bindings: [binding] };
        const [report] = await judgeConformance(options);
        expect(report?.results).toMatchObject([{ outcome }]);
      } finally {
        proxy.close();
      }
    },
  );
});

describe("a server that requires credentials", () => {
  it("fails no test without them, because nothing is verified", async () => {
    const proxy = await startBreakingProxy(servers[0]?.url ?? "", {
      changeResponse: (response, { path }) =>
        path.includes("agent-card.json")
          ? response
          : { status: 401, contentType: "application/json", body: '{"error":"unauthorized"}' },
    });
    try {
      const options = { url: proxy.url, corpus, message: "Hello", bindings: ["jsonrpc", "rest"] } as const;
      expect(listIds(await judgeConformance(options))).toEqual([]);
      expect(listIds(await judgeConformance({ ...options, allowsMore: true, resilience: {} }))).toEqual([]);
    } finally {
      proxy.close();
    }
  });
});

describe("a server that accepts each request", () => {
  it("receives no more than six messages on a binding", async () => {
    let count = 0;
    const id = "t";
    const task = { id, contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
    const reply = async (request: IncomingMessage): Promise<object> => {
      if (request.method === "GET")
        return {
          name: "a",
          description: "a",
          version: "1",
          capabilities: {},
          skills: [],
          defaultInputModes: ["text/plain"],
          defaultOutputModes: ["text/plain"],
          supportedInterfaces: [
            { url: `http://${request.headers.host}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
          ],
        };
      const body = (await json(request).catch(() => ({}))) as { method?: string; id?: unknown };
      const isMessage = body.method?.startsWith("Send") ?? false;
      if (isMessage) count++;
      return { jsonrpc: "2.0", id: body.id, result: isMessage ? { task } : task };
    };
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = JSON.stringify(await reply(request));
      response.setHeader("content-type", "application/json").end(body);
    };
    const stranger = createHttpServer((request, response) => void respond(request, response));
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
      const findReasons = async (allowsMore: boolean): Promise<number> => {
        count = 0;
        const reports = await judgeConformance({ url, corpus, message: "Hello", allowsMore });
        const { results = [] } = reports[0] ?? {};
        return results.filter(({ reason = "" }) => reason.includes("messages that it should reject")).length;
      };
      expect(await findReasons(false)).toBeGreaterThan(0);
      expect(count).toBeLessThanOrEqual(6);
      expect(await findReasons(true)).toBe(0);
      expect(count).toBeGreaterThan(6);
    } finally {
      stranger.close();
    }
  });
});

describe("reports", () => {
  const failed: BindingReport["results"][number] = {
    test: {
      id: "ANY-MEDIA",
      name: "Responses have a JSON media type",
      level: "must",
      suite: { id: "any-agent", name: "Operations" },
      spec_ref: "A2A §9.1",
      hint: "Send application/json.",
    },
    durationMs: 3,
    outcome: "failed",
    reason: "The response has the content type text/plain.",
    exchanges: ["GetTask {} → 200 text/plain {}"],
  };
  const run: JudgedRun = {
    url: "http://a.example",
    reports: [{ binding: "rest", version: "1.0", results: [failed] }],
    expected: [],
  };
  const known = { test: "ANY-MEDIA", bindings: ["rest"], outcome: "failed", reason: "known" } as const;

  it("have the exchange, the section, and the hint of each finding", () => {
    const markdown = renderMarkdown(run);
    for (const text of ["ANY-MEDIA on rest 1.0", "A2A §9.1", "text/plain {}", "Send application/json."])
      expect(markdown).toContain(text);
    const sarif = JSON.parse(renderSarif(run, "1.2.3")) as { runs: { results: { level: string }[] }[] };
    expect(sarif.runs[0]?.results).toMatchObject([{ ruleId: "ANY-MEDIA", level: "error" }]);
    expect(renderBadge(run)).toContain("1 must failed");
  });

  it("have no problem if the failure is expected, and one if an expected failure passes", () => {
    expect(listProblems(run)).toHaveLength(1);
    expect(listProblems({ ...run, expected: [known] })).toEqual([]);
    const passed = {
      ...run,
      reports: [{ binding: "rest" as const, results: [{ ...failed, outcome: "passed" as const }] }],
    };
    expect(listProblems(passed)).toEqual([]);
    expect(listProblems({ ...passed, expected: [known] })).toHaveLength(1);
  });
});

describe("rules.json", () => {
  it("has no text without a rule", () => {
    const sources = ["src/studio/judge", "src/cli/doctor"]
      .flatMap((folder) => globSync(`${folder}/**/{*-{rules,checks},examine-*}.ts`))
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");
    expect(Object.keys(texts).filter((id) => !sources.includes(`"${id}"`))).toEqual([]);
  });
});

describe("the suites", () => {
  it("are unchanged, and contain 111 tests", () => {
    expect(corpus.tests).toHaveLength(111);
    expect(readFileSync("acts/suites/README.md", "utf8")).toContain("Apache License 2.0");
  });
});
