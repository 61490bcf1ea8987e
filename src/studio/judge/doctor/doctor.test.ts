import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { startBreakingProxy, type ProxyChanges } from "../../../../lab/acts/broken/proxy.ts";
import { agent } from "../../../agents/adapters/index.ts";
import { serveWithOfficialSdk } from "../../../client/a2a-js-server.fixture.ts";
import { createServer, type Server } from "../../../server/index.ts";
import { examineDeployment, type Diagnosis } from "../index.ts";
import { classifyHost, judgeAddress } from "./classify-host.ts";
import type { DeploymentOptions } from "./deployment.ts";

const greeter = agent({ name: "greeter", description: "Greets" }, async function* greet() {
  yield "Hello, ";
  yield "you.";
});

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer(greeter, { store: "memory", observer: false });
  ({ url } = await server.listen({ grpc: true }));
});
afterAll(() => server.close());

function examine(target: string, options: Partial<DeploymentOptions> = {}): Promise<readonly Diagnosis[]> {
  return examineDeployment({ url: target, message: "Hello", ...options });
}

function listFindings(diagnoses: readonly Diagnosis[]): string[] {
  return diagnoses
    .filter(({ result }) => result === "problem" || result === "warning")
    .map(({ id, result }) => `${result} ${id}`);
}

async function examineThroughProxy(
  changes: ProxyChanges,
  options: Partial<DeploymentOptions> = {},
): Promise<readonly Diagnosis[]> {
  const proxy = await startBreakingProxy(url, changes);
  onTestFinished(() => proxy.close());
  return await examine(proxy.url, options);
}

// oxlint-disable-next-line typescript/no-explicit-any -- The changes reach deep into the card of the good server.
type Card = any;

function onCard(change: (card: Card) => void): ProxyChanges {
  return {
    changeResponse: (response, { path }) => {
      if (!path.includes("agent-card.json")) return response;
      const card: Card = JSON.parse(response.body);
      change(card);
      return { ...response, body: JSON.stringify(card) };
    },
  };
}

const JSON_RPC_ONLY = (card: Card): Card =>
  card.supportedInterfaces.filter(
    ({ protocolBinding, protocolVersion }: Card) =>
      protocolBinding === "JSONRPC" && protocolVersion === "1.0",
  );

/** Makes the first timestamp of a stream 26 years older. */
function shiftStart(event: string): string {
  return event.includes('"task":{') ? event.replace(/"timestamp":"\d+/, '"timestamp":"2000') : event;
}

describe("a server without a defect", () => {
  it.each([false, true])("has no finding if more is allowed: %s", async (allowsMore) => {
    const diagnoses = await examine(url, { allowsMore });
    expect(listFindings(diagnoses)).toEqual([]);
    const passed = diagnoses.filter(({ result }) => result === "ok").map(({ id }) => id);
    expect(passed).toEqual([
      "ANY-CARD-SHAPE",
      "ANY-CARD-MEDIA",
      "ANY-CARD-URLS",
      "ANY-CARD-SECURITY",
      "DEPLOY-ADDRESS",
      "DEPLOY-INTERFACES",
      "DEPLOY-VERSION-HEADER",
      "ANY-MEDIA",
      "ANY-STREAM-SHAPE",
      "ANY-STREAM-MEDIA",
      "DEPLOY-STREAM-CUT",
      "DEPLOY-CORS",
      "DEPLOY-CLOCK",
      "ANY-EXTENDED-DENIED",
      "DEPLOY-PUSH",
      "DEPLOY-OPEN",
      ...(allowsMore ? ["RES-PUSH-PRIVATE"] : []),
    ]);
  });

  it("counts the origins of a card below a path", async () => {
    const diagnoses = await examine(`${url}/a2a/greeter`);
    const { seen } = diagnoses.find(({ id }) => id === "DEPLOY-ADDRESS") ?? {};
    expect(seen).toContain("names 2 origins");
  });

  it("receives one message", async () => {
    const countTasks = async (): Promise<number> => {
      const response = await fetch(`${url}/tasks`, { headers: { "A2A-Version": "1.0" } });
      return ((await response.json()) as { totalSize: number }).totalSize;
    };
    const before = await countTasks();
    await examine(url);
    expect((await countTasks()) - before).toBe(1);
  });

  it("has no finding if it is the official SDK", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const official = await serveWithOfficialSdk();
    onTestFinished(() => official.close());
    expect(listFindings(await examine(official.url))).toEqual([]);
  });
});

describe("a defect has a finding, and no other finding", () => {
  it.each<[finding: string, what: string, changes: ProxyChanges]>([
    [
      "problem DEPLOY-VERSION-HEADER",
      "a proxy removes A2A-Version",
      {
        changeRequest: (request) => {
          const { "a2a-version": _, ...headers } = request.headers;
          return { ...request, headers };
        },
      },
    ],
    [
      "warning DEPLOY-VERSION-HEADER",
      "a proxy sets A2A-Version",
      {
        changeRequest: (request) => ({ ...request, headers: { ...request.headers, "a2a-version": "1.0" } }),
      },
    ],
    ["problem DEPLOY-BUFFERING", "a proxy holds streams", { holdsStreams: true, changeEvent: shiftStart }],
    [
      "problem DEPLOY-STREAM-CUT",
      "a proxy cuts streams",
      { keepsEvent: (event) => !/COMPLETED/.test(event) },
    ],
    [
      "warning DEPLOY-BUFFERING",
      "a proxy compresses streams",
      { changeHeaders: (headers) => void (headers["content-encoding"] = "x-test") },
    ],
    [
      "problem DEPLOY-CLOCK",
      "a clock is 5 minutes late",
      { changeHeaders: (headers) => void (headers["date"] = new Date(Date.now() - 300_000).toUTCString()) },
    ],
    [
      "warning DEPLOY-CLOCK",
      "a clock is 20 s early",
      { changeHeaders: (headers) => void (headers["date"] = new Date(Date.now() + 20_000).toUTCString()) },
    ],
    [
      "problem DEPLOY-CORS",
      "server and proxy both set CORS headers",
      { changeHeaders: (headers) => void (headers["access-control-allow-origin"] = "*, *") },
    ],
    [
      "problem DEPLOY-CORS",
      "each page may use cookies",
      {
        changeHeaders(headers) {
          headers["access-control-allow-origin"] = "https://colloquy-doctor.example";
          headers["access-control-allow-credentials"] = "true";
        },
      },
    ],
    [
      "warning DEPLOY-CORS",
      "pages may not send A2A-Version",
      { changeHeaders: (headers) => void (headers["access-control-allow-origin"] = "*") },
    ],
    [
      "problem DEPLOY-INTERFACES",
      "no server listens at an address of the card",
      onCard((card) =>
        card.supportedInterfaces.push({ ...JSON_RPC_ONLY(card)[0], url: "http://127.0.0.1:1/" }),
      ),
    ],
    [
      "problem ANY-CARD-SECURITY",
      "the card requires an undeclared scheme",
      onCard((card) => (card.securityRequirements = [{ schemes: { missing: { list: [] } } }])),
    ],
    [
      "problem ANY-STREAM-DENIED",
      "the card does not declare streaming",
      onCard((card) => (card.capabilities.streaming = false)),
    ],
    [
      "problem ANY-PUSH-DENIED",
      "the card does not declare push notifications",
      onCard((card) => (card.capabilities.pushNotifications = false)),
    ],
    [
      "problem DEPLOY-EXTENDED-CARD",
      "the card declares an extended card that does not exist",
      onCard((card) => (card.capabilities.extendedAgentCard = true)),
    ],
    [
      "problem ANY-AUTH-REQUIRED",
      "the server accepts callers without the credentials that the card requires",
      onCard((card) => {
        card.securityRequirements = [{ schemes: { token: { list: [] } } }];
        card.securitySchemes = { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } };
      }),
    ],
    [
      "problem DEPLOY-PUSH",
      "a proxy does not forward the operations of webhooks",
      {
        changeRequest: (request) => ({
          ...request,
          body: request.body.replace('"ListTaskPushNotificationConfigs"', '"Unknown"'),
        }),
      },
    ],
  ])("%s: %s", async (finding, _what, changes) => {
    expect(listFindings(await examineThroughProxy(changes))).toContain(finding);
  });

  it("RES-PUSH-PRIVATE: the server accepts webhooks of private networks", async () => {
    const lenient = createServer(greeter, { store: "memory", observer: false, push: { allowPrivate: true } });
    onTestFinished(() => lenient.close());
    const { url: lenientUrl } = await lenient.listen();
    expect(listFindings(await examine(lenientUrl))).toEqual([]);
    const findings = listFindings(await examine(lenientUrl, { allowsMore: true }));
    expect(findings).toEqual(["warning RES-PUSH-PRIVATE"]);
  });

  it("ANY-CARD-SHAPE: no client can read the card", async () => {
    const diagnoses = await examineThroughProxy({
      changeResponse: (response) => ({ ...response, body: '{ "name": 1 }' }),
    });
    expect(listFindings(diagnoses)).toContain("problem ANY-CARD-SHAPE");
    const others = diagnoses.filter(({ id }) => id.startsWith("DEPLOY"));
    expect(others.map(({ result }) => result)).toEqual(others.map(() => "not checked"));
  });
});

describe("streams that arrive in time", () => {
  it("pass, if the agent works long enough to see it", async () => {
    let now = 0;
    const options = { now: () => (now += 1e12) };
    const diagnoses = await examineThroughProxy({ changeEvent: shiftStart }, options);
    expect(diagnoses.find(({ id }) => id === "DEPLOY-BUFFERING")?.result).toBe("ok");
  });
});

describe("addresses", () => {
  it("belong to this machine, to a network, or to everybody", () => {
    expect(["localhost", "127.0.0.1", "[::1]", "a.localhost"].map(classifyHost)).toEqual(
      Array(4).fill("loopback"),
    );
    const hosts = [
      "10.1.2.3",
      "172.20.0.1",
      "192.168.0.1",
      "169.254.169.254",
      "[fd00::1]",
      "agents",
      "a.svc",
    ];
    expect(hosts.map(classifyHost)).toEqual(hosts.map(() => "private"));
    const others = ["172.32.0.1", "11.0.0.1", "agents.example.com", "[2001:db8::1]"];
    expect(others.map(classifyHost)).toEqual(others.map(() => "public"));
  });

  it.each([
    ["https://a.example", "https://a.example", undefined],
    ["http://localhost:1", "http://127.0.0.1:2", undefined],
    ["https://a.example", "http://127.0.0.1:4120", "problem"],
    ["https://a.example", "https://agents.internal", "problem"],
    ["https://a.example", "http://a.example", "problem"],
    ["http://a.example", "http://a.example", "problem"],
    ["https://a.internal", "http://a.internal", "problem"],
    ["https://a.example", "https://b.example", "warning"],
    ["http://agents:80", "http://agents:80", "warning"],
  ])("a card at %s that names %s has the result %s", (asked, origin, result) => {
    expect(judgeAddress(asked, origin)?.result).toBe(result);
  });
});
