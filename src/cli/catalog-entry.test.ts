import { describe, expect, it } from "vitest";
import {
  buildTestAgentCard,
  type RecordedTestRequest,
  sendTestJsonResponse,
  startRequestRecordingTestServer,
} from "../client/request-recording-test-server.fixture.ts";
import { runCliInTestProcess } from "./cli-test-process.fixture.ts";

const TASK = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
const TYPE = "application/a2a-agent-card+json";

interface TestHost {
  readonly url: string;
  readonly seen: RecordedTestRequest[];
}

/** Starts an agent whose card is at `/card.json`, and a catalog with these entries. */
async function startHost(createEntries: (url: string) => object[]): Promise<TestHost> {
  let url = "";
  const server = await startRequestRecordingTestServer((response, { url: path, body }) => {
    if (path === "/.well-known/ai-catalog.json")
      sendTestJsonResponse(response, { specVersion: "1.0", entries: createEntries(url) });
    else if (path === "/card.json")
      sendTestJsonResponse(response, buildTestAgentCard(url, { name: "Writer", capabilities: {} }));
    else if (path === "/rpc") sendTestJsonResponse(response, { jsonrpc: "2.0", id: body.id, result: TASK });
    else sendTestJsonResponse(response, {}, 404);
  });
  ({ url } = server);
  return server;
}

const startCatalog = (): Promise<TestHost> =>
  startHost((url) => [
    { type: TYPE, url: `${url}/card.json`, displayName: "The writer" },
    { type: TYPE, data: buildTestAgentCard(url, { capabilities: {} }), displayName: "Inline" },
    { type: TYPE, url: `${url}/missing.json`, displayName: "Broken" },
  ]);

describe("an entry of a catalog", () => {
  it("is accepted in place of an agent, also with -a and with a card in the catalog [CARD_GET_005]", async () => {
    const { url, seen } = await startCatalog();
    for (const words of [
      [`${url}#The%20writer`],
      [`${url}/.well-known/ai-catalog.json#The writer`],
      ["-a", `${url}#The writer`],
    ]) {
      const { code, out } = await runCliInTestProcess(["card", "get", ...words]);
      expect([code, out]).toEqual([0, expect.stringMatching(/^Name: Writer\n/)]);
    }
    for (const name of ["The writer", "Inline"])
      expect(
        await runCliInTestProcess(["task", "get", `${url}#${name}`, "t", "--bearer", "secret"]),
      ).toMatchObject({
        code: 0,
      });
    const withToken = seen.filter(({ headers }) => headers.authorization).map((request) => request.url);
    expect(withToken).toEqual(["/rpc", "/rpc"]);
  });

  it("that is unknown or broken fails, and the names are listed [CARD_GET_005]", async () => {
    const { url } = await startCatalog();
    expect(await runCliInTestProcess(["send", `${url}#Nobody`, "hi"])).toMatchObject({
      code: 3,
      err: expect.stringContaining('It has "The writer", "Inline", "Broken".') as string,
    });
    expect(await runCliInTestProcess(["send", `${url}#Broken`, "hi"])).toMatchObject({ code: 3 });
    expect(await runCliInTestProcess(["send", "http://127.0.0.1:9#Nobody", "hi"])).toMatchObject({ code: 3 });
  });

  it("at another origin gets credentials only with --trust-origin [CARD_GET_005]", async () => {
    const far = await startCatalog();
    const catalog = await startHost(() => [{ type: TYPE, url: `${far.url}/card.json`, displayName: "Far" }]);
    const words = ["task", "get", `${catalog.url}#Far`, "t"];
    expect(await runCliInTestProcess(words)).toMatchObject({ code: 0 });
    for (const credential of [
      ["--bearer", "secret"],
      ["--svc-param", "x-key: secret"],
    ])
      expect(await runCliInTestProcess([...words, ...credential])).toMatchObject({
        code: 1,
        err: expect.stringContaining(`--trust-origin ${far.url}`) as string,
      });
    expect(far.seen.flatMap(({ headers }) => headers.authorization ?? headers["x-key"] ?? [])).toEqual([]);
    const trusted = [...words, "--bearer", "secret", "--trust-origin", far.url];
    expect(await runCliInTestProcess(trusted)).toMatchObject({ code: 0 });
    expect(far.seen.at(-1)?.headers.authorization).toBe("Bearer secret");
  });
});
