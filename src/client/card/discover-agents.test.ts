import { describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import { createServer } from "../../server/index.ts";
import { discover, type DiscoveredAgent } from "../index.ts";
import {
  buildTestAgentCard,
  type RecordedTestRequest,
  sendTestJsonResponse,
  startRequestRecordingTestServer,
} from "../request-recording-test-server.fixture.ts";

const CARD_PATH = "/.well-known/agent-card.json";
const AI_CATALOG = "/.well-known/ai-catalog.json";
const API_CATALOG = "/.well-known/api-catalog";
const CARD_TYPE = "application/a2a-agent-card+json";
const CATALOG_TYPE = "application/ai-catalog+json";

/** Starts a host that replies with the JSON for a path, and with 404 elsewhere. */
async function serveJson(
  documents: Record<string, (url: string) => unknown>,
): Promise<{ url: string; seen: RecordedTestRequest[] }> {
  let url = "";
  const server = await startRequestRecordingTestServer((response, request) => {
    const document = documents[request.url];
    if (document) sendTestJsonResponse(response, document(url));
    else sendTestJsonResponse(response, { error: "not here" }, 404);
  });
  ({ url } = server);
  return server;
}

const buildCatalog = (...entries: object[]): object => ({ specVersion: "1.0", entries });
const buildEntry = (url: string, type: string = CARD_TYPE): object => ({ identifier: url, type, url });
const getNames = (agents: DiscoveredAgent[]): unknown[] => agents.map(({ name }) => name);

describe("discover", () => {
  it("lists the five agents of a host by its origin alone", async () => {
    const names = ["one", "two", "three", "four", "five"];
    const agents = names.map((name) => [
      name,
      agent({ name, description: `Number ${name}` }, async function* () {
        yield name;
      }),
    ]);
    const server = createServer(Object.fromEntries(agents), { store: "memory" });
    onTestFinished(() => server.close());
    const { url } = await server.listen();
    const found = await discover(url);
    expect(found).toMatchObject(
      names.map((name) => ({
        name,
        description: `Number ${name}`,
        cardUrl: `${url}/a2a/${name}${CARD_PATH}`,
        card: { name },
        error: undefined,
      })),
    );
  });

  it("reads catalogs of earlier drafts, cards inside of a catalog, and nested catalogs once each", async () => {
    const { url, seen } = await serveJson({
      [AI_CATALOG]: (origin) =>
        buildCatalog(
          { identifier: "a", mediaType: CARD_TYPE, url: "/card.json", displayName: "Draft" },
          { identifier: "b", type: CARD_TYPE, data: { ...buildTestAgentCard(origin), name: "Inline" } },
          buildEntry("/nested.json", CATALOG_TYPE),
          buildEntry("/mcp.json", "application/mcp-server-card+json"),
        ),
      "/nested.json": () =>
        buildCatalog(buildEntry(AI_CATALOG, CATALOG_TYPE), buildEntry("/nested-card.json")),
      "/card.json": buildTestAgentCard,
      "/nested-card.json": (origin) => ({ ...buildTestAgentCard(origin), name: "Nested" }),
    });
    expect(getNames(await discover(url))).toEqual(["Draft", "Inline", "Nested"]);
    expect(seen.map((request) => request.url).toSorted()).toEqual([
      AI_CATALOG,
      "/card.json",
      "/nested-card.json",
      "/nested.json",
    ]);
  });

  it("stops at 20 catalogs, because a catalog can be endless", async () => {
    const { url, seen } = await serveJson(
      Object.fromEntries(
        Array.from({ length: 100 }, (_, n) => [
          n === 0 ? AI_CATALOG : `/${n}.json`,
          () => buildCatalog(buildEntry(`/${n + 1}.json`, CATALOG_TYPE)),
        ]),
      ),
    );
    expect(await discover(url)).toEqual([]);
    expect(seen).toHaveLength(20);
  });

  it("sends requests and credentials to no other origin, unless it is trusted", async () => {
    const other = await serveJson({ "/card.json": buildTestAgentCard });
    const { url } = await serveJson({
      [AI_CATALOG]: () => buildCatalog({ ...buildEntry(`${other.url}/card.json`), displayName: "Other" }),
    });
    const headers = { "x-api-key": "secret" };
    expect(await discover(url, { headers })).toEqual([
      {
        cardUrl: `${other.url}/card.json`,
        name: "Other",
        description: undefined,
        card: undefined,
        error: undefined,
      },
    ]);
    expect(other.seen).toEqual([]);
    for (const trustedOrigins of [[other.url], "any"] as const)
      expect(await discover(url, { headers, trustedOrigins })).toMatchObject([{ card: { name: "Raw" } }]);
    expect(other.seen).toHaveLength(2);
  });

  it("reports the error of a card that cannot be read, and reads the others", async () => {
    const { url } = await serveJson({
      [AI_CATALOG]: () => buildCatalog(buildEntry("/missing.json"), buildEntry("/card.json")),
      "/card.json": buildTestAgentCard,
    });
    expect(await discover(url)).toMatchObject([
      { cardUrl: `${url}/missing.json`, card: undefined, error: { reason: "NOT_FOUND" } },
      { name: "Raw", error: undefined },
    ]);
  });

  it("reports a card that verifyCard rejects and a nested catalog that cannot be read, and reads the others", async () => {
    const { url } = await serveJson({
      [AI_CATALOG]: () =>
        buildCatalog(
          buildEntry("/bad.json"),
          { ...buildEntry("/missing.json", CATALOG_TYPE), displayName: "Gone" },
          buildEntry("/card.json"),
        ),
      "/bad.json": (origin) => ({ ...buildTestAgentCard(origin), name: "Bad" }),
      "/card.json": buildTestAgentCard,
    });
    const verifyCard = (card: unknown): void => {
      if ((card as { name: string }).name === "Bad") throw new Error("not signed");
    };
    expect(await discover(url, { verifyCard })).toMatchObject([
      { card: undefined, error: { message: `${url}/bad.json: not signed` } },
      { name: "Gone", cardUrl: undefined, error: { reason: "INVALID_AGENT_RESPONSE" } },
      { name: "Raw", error: undefined },
    ]);
  });

  it("finds the agent of a host that redirects unknown paths", async () => {
    const { url } = await startRequestRecordingTestServer((response, request) => {
      if (request.url === CARD_PATH) sendTestJsonResponse(response, buildTestAgentCard(url));
      else response.writeHead(302, { location: "/login" }).end();
    });
    expect(getNames(await discover(url))).toEqual(["Raw"]);
  });

  it.each(["javascript:alert(1)", "data:application/json,{}", "blob:http://127.0.0.1/x"])(
    "ignores an entry with the URL %s",
    async (entryUrl) => {
      const { url } = await serveJson({ [AI_CATALOG]: () => buildCatalog(buildEntry(entryUrl)) });
      expect(await discover(url, { trustedOrigins: "any" })).toEqual([]);
    },
  );

  it("cuts a long name between code points", async () => {
    const displayName = `${"x".repeat(999)}😀`;
    const { url } = await serveJson({
      [AI_CATALOG]: () => buildCatalog({ ...buildEntry("/card.json"), displayName }),
      "/card.json": buildTestAgentCard,
    });
    expect(getNames(await discover(url))).toEqual(["x".repeat(999)]);
  });

  it("reads the API catalog of a host without an AI catalog (RFC 9727)", async () => {
    const { url } = await serveJson({
      [API_CATALOG]: () => ({
        linkset: [
          { anchor: "/one", "service-desc": [{ href: "/one.json", type: CARD_TYPE }] },
          { anchor: "/two", "service-meta": [{ href: `/two${CARD_PATH}`, type: "application/json" }] },
          { anchor: "/rest", "service-desc": [{ href: "/openapi.json", type: "application/json" }] },
        ],
      }),
      "/one.json": (origin) => ({ ...buildTestAgentCard(origin), name: "One" }),
      [`/two${CARD_PATH}`]: (origin) => ({ ...buildTestAgentCard(origin), name: "Two" }),
    });
    expect(getNames(await discover(url))).toEqual(["One", "Two"]);
  });

  it("finds the only agent of a host without catalogs", async () => {
    const { url } = await serveJson({ [CARD_PATH]: buildTestAgentCard });
    expect(await discover(url)).toMatchObject([{ name: "Raw", cardUrl: url + CARD_PATH }]);
  });

  it("finds a catalog below the path of a URL, or else at the origin", async () => {
    const documents = {
      [`/base${AI_CATALOG}`]: () => buildCatalog({ ...buildEntry("/card.json"), displayName: "Below" }),
      [AI_CATALOG]: () => buildCatalog({ ...buildEntry("/card.json"), displayName: "Root" }),
      "/card.json": buildTestAgentCard,
    };
    const { url } = await serveJson(documents);
    expect(getNames(await discover(`${url}/base/`))).toEqual(["Below"]);
    expect(getNames(await discover(`${url}/other`))).toEqual(["Root"]);
  });

  it.each([
    ["another major version", { specVersion: "2.0", entries: [] }],
    ["no entries", { specVersion: "1.0" }],
    ["no object", []],
  ])("ignores an AI catalog with %s", async (_, catalog) => {
    const { url } = await serveJson({ [AI_CATALOG]: () => catalog, [CARD_PATH]: buildTestAgentCard });
    expect(getNames(await discover(url))).toEqual(["Raw"]);
  });

  it("rejects for a host without agents", async () => {
    const { url } = await serveJson({});
    await expect(discover(url)).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });
});

it("discover ends after ten times the time for one card, although a catalog names many agents", async () => {
  const catalog = buildCatalog(...Array.from({ length: 1000 }, (_, n) => buildEntry(`/${n}.json`)));
  // The host answers requests for agent cards never.
  const fetch = (input: string | URL | Request): Promise<Response> =>
    new URL(input instanceof Request ? input.url : input).pathname === AI_CATALOG
      ? Promise.resolve(Response.json(catalog))
      : new Promise(() => {});
  await expect(discover("http://host.example", { fetch, timeouts: { connectMs: 20 } })).rejects.toMatchObject(
    {
      reason: "UNAVAILABLE",
      message: expect.stringContaining("Did not read all agent cards") as string,
    },
  );
});
