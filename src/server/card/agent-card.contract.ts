import { describe, expect, it } from "vitest";
import type { AgentCard } from "../../protocol/index.ts";
import { buildTestMessage, type TestClient } from "../server.fixture.ts";

/** Defines the tests of agent cards for one kind of endpoint. */
export function defineAgentCardContract(visit: TestClient): void {
  const { postJson: post } = visit;

  describe("the card", () => {
    it("is served at the well-known path, with the actual URL of every interface [A-01, A-03, A-04, A-05]", async () => {
      const response = await visit.endpoint.send("/.well-known/agent-card.json");
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/json");
      const card = (await response.json()) as AgentCard;
      const url = `${visit.endpoint.url}/a2a/parrot`;
      expect(card.supportedInterfaces).toEqual([
        { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
        { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
        { url, protocolBinding: "HTTP+JSON", protocolVersion: "0.3" },
      ]);
      expect((await post("/a2a/parrot/message:send", { message: buildTestMessage("echo x") })).status).toBe(
        200,
      );
    });

    it("has every required field and the capabilities [A-02, A-08]", async () => {
      const card = (await (
        await visit.endpoint.send("/a2a/silent/.well-known/agent-card.json")
      ).json()) as AgentCard;
      expect(card).toMatchObject({ name: "silent", version: "1.0.0", capabilities: { streaming: false } });
      for (const list of [card.skills, card.defaultInputModes, card.defaultOutputModes])
        expect(list).toHaveLength(1);
      expect(card.capabilities.pushNotifications).toBe(false);
      expect(card.capabilities).not.toHaveProperty("extendedAgentCard");
    });

    it("supports caching and conditional requests [A-20, A-21, A-22]", async () => {
      const { headers } = await visit.endpoint.send("/.well-known/agent-card.json");
      expect(headers.get("cache-control")).toMatch(/max-age=\d+/);
      const etag = headers.get("etag") ?? "";
      const modified = headers.get("last-modified") ?? "";
      const ask = async (more: Record<string, string>): Promise<number> =>
        (await visit.endpoint.send("/.well-known/agent-card.json", { headers: more })).status;
      expect(await ask({ "if-none-match": etag })).toBe(304);
      expect(await ask({ "if-none-match": `W/${etag}, "other"` })).toBe(304);
      expect(await ask({ "if-none-match": "*" })).toBe(304);
      expect(await ask({ "if-none-match": `"other"`, "if-modified-since": modified })).toBe(200);
      expect(await ask({ "if-modified-since": modified })).toBe(304);
      expect(await ask({ "if-modified-since": "Thu, 01 Jan 2015 00:00:00 GMT" })).toBe(200);
      const head = await visit.endpoint.send("/.well-known/agent-card.json", { method: "HEAD" });
      expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, etag, ""]);
      const wrong = await visit.endpoint.send("/.well-known/agent-card.json", { method: "DELETE" });
      expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    });

    it("of every agent is in the agent list", async () => {
      const { agents } = (await (await visit.endpoint.send("/a2a")).json()) as {
        agents: { id: string; cardUrl: string }[];
      };
      expect(agents.map(({ id }) => id)).toEqual(["parrot", "silent"]);
      const own = await visit.endpoint.send(new URL(agents[1]?.cardUrl ?? "").pathname);
      expect(await own.json()).toMatchObject({ name: "silent" });
    });
  });
}
