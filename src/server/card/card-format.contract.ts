import { describe, expect, it } from "vitest";
import type { ServerOptions } from "../index.ts";
import { messageCommandTestAgent, type TestServerFactory, type TestClient } from "../server.fixture.ts";

const TESTED_AGENT_CARD_PATH = "/.well-known/agent-card.json";

/** Defines the tests of card formats for one kind of endpoint. */
export function defineCardFormatContract(visit: TestClient, open: TestServerFactory): void {
  /** Returns the versions of a card, which it derives from members that only one version defines. */
  async function shapeOf(response: Response): Promise<string> {
    const card = (await response.json()) as object;
    return ["supportedInterfaces" in card ? "v1" : "", "url" in card ? "v0.3" : ""].filter(Boolean).join("+");
  }

  async function shapes(
    options: ServerOptions,
  ): Promise<readonly [unversioned: string, v1: string, v03: string]> {
    const { endpoint } = await open({ parrot: messageCommandTestAgent }, { store: "memory", ...options });
    const shape = async (headers: Record<string, string>): Promise<string> =>
      shapeOf(await endpoint.send(TESTED_AGENT_CARD_PATH, { headers }));
    const formats = [
      await shape({}),
      await shape({ "a2a-version": "1.0" }),
      await shape({ "a2a-version": "0.3.0" }),
    ] as const;
    await endpoint.close();
    return formats;
  }

  describe("the card of a server of two versions", () => {
    it("has the format of the requested version, or the hybrid format [A-23, B-10]", async () => {
      expect(await shapes({})).toEqual(["v1+v0.3", "v1", "v0.3"]);
      expect(await shapes({ cardFormat: "v1" })).toEqual(["v1", "v1", "v0.3"]);
      expect(await shapes({ cardFormat: "v0.3" })).toEqual(["v0.3", "v1", "v0.3"]);
      expect(await shapes({ versions: ["1.0"] })).toEqual(["v1", "v1", "v1"]);
      expect(await shapes({ versions: ["0.3"] })).toEqual(["v0.3", "v0.3", "v0.3"]);
      expect(await shapeOf(await visit.endpoint.send(`${TESTED_AGENT_CARD_PATH}?A2A-Version=0.3`))).toBe(
        "v0.3",
      );
    });

    it("has a Vary header, and an ETag for each format [A-21, A-23]", async () => {
      const tags = await Promise.all(
        [{}, { "a2a-version": "1.0" }, { "a2a-version": "0.3" }].map(async (headers) => {
          const response = await visit.endpoint.send(TESTED_AGENT_CARD_PATH, { headers });
          expect(response.headers.get("vary")).toBe("A2A-Version");
          return response.headers.get("etag") ?? "";
        }),
      );
      expect(new Set(tags).size).toBe(3);
      const headers = { "a2a-version": "0.3", "if-none-match": tags[1] ?? "" };
      expect((await visit.endpoint.send(TESTED_AGENT_CARD_PATH, { headers })).status).toBe(200);
    });

    it("lists the 0.3 interfaces for 0.3 clients, and is also at the legacy path [V-19, V-21, V-22]", async () => {
      for (const path of [TESTED_AGENT_CARD_PATH, "/.well-known/agent.json"]) {
        const url = `${visit.endpoint.url}/a2a/parrot`;
        const response = await visit.endpoint.send(path, { headers: { "a2a-version": "0.3" } });
        expect(await response.json()).toMatchObject({
          protocolVersion: "0.3.0",
          name: "parrot",
          description: "Repeats.",
          version: "1.0.0",
          url,
          preferredTransport: "JSONRPC",
          additionalInterfaces: [
            { url, transport: "JSONRPC" },
            { url, transport: "HTTP+JSON" },
          ],
          capabilities: { streaming: true },
          defaultInputModes: ["text/plain"],
          defaultOutputModes: ["text/plain"],
          skills: [{ id: "repeat" }],
        });
      }
    });
  });
}
