import { describe, expect, it } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import type { Agent, Caller } from "../../engine/index.ts";
import { A2AError, type AgentCard } from "../../protocol/index.ts";
import {
  AuthTestServer,
  whoamiTestAgent,
  buildBearerAuthTestHeaders,
} from "../auth/auth-test-server.fixture.ts";
import { bearer } from "../auth/index.ts";

const IDENTITIES_BY_TOKEN = {
  "token-of-ada-0123456789": { principal: "ada", scopes: ["secret"] },
  "token-of-bob-0123456789": "bob",
  "token-of-eve-0123456789": "eve",
  "token-of-dan-0123456789": { principal: "dan", tenant: "acme" },
};
const ADA_HEADERS = buildBearerAuthTestHeaders("token-of-ada-0123456789");
const BOB_HEADERS = buildBearerAuthTestHeaders("token-of-bob-0123456789");
const EVE_HEADERS = buildBearerAuthTestHeaders("token-of-eve-0123456789");
const DAN_HEADERS = buildBearerAuthTestHeaders("token-of-dan-0123456789");

const buildSkill = (id: string): { id: string; name: string; description: string; tags: string[] } => ({
  id,
  name: id,
  description: id,
  tags: ["test"],
});

/** An agent with an extended card for some callers. */
const agentWithExtendedCard: Agent = agent(
  { name: "discreet", description: "Knows more", skills: [buildSkill("chat")] },
  async function* () {},
  {
    describeExtended: async ({ principal, scopes }: Caller) => {
      if (principal === "eve") throw new A2AError("PERMISSION_DENIED", "Not for Eve.");
      if (principal === "bob") return undefined;
      return Promise.resolve({
        skills: [buildSkill("chat"), ...(scopes?.includes("secret") ? [buildSkill("secret")] : [])],
      });
    },
  },
);

const bearerScheme = bearer({ tokens: IDENTITIES_BY_TOKEN });

/** Returns the replies of both bindings: the HTTP status, the error reason, and the card. */
async function fetchRefusal(
  server: AuthTestServer,
  headers: Record<string, string> | undefined,
): Promise<unknown[]> {
  const rest = await fetch(`${server.url}/extendedAgentCard`, {
    headers: { "a2a-version": "1.0", ...headers },
  });
  const rpc = await server.sendJsonRpc("GetExtendedAgentCard", {}, headers);
  const { error } = (await rest.json()) as { error?: { details: { reason: string }[] } };
  const answer = (await rpc.json()) as { error?: { code: number; data: { reason: string }[] } };
  expect(answer.error?.data[0]?.reason).toBe(error?.details[0]?.reason);
  return [rest.status, rpc.status, error?.details[0]?.reason, answer.error?.code];
}

async function fetchExtendedCard(
  server: AuthTestServer,
  headers: Record<string, string> | undefined,
): Promise<AgentCard> {
  const response = await fetch(`${server.url}/extendedAgentCard`, {
    headers: { "a2a-version": "1.0", ...headers },
  });
  expect([response.status, response.headers.get("cache-control")]).toEqual([200, "private"]);
  const rpc = await server.sendJsonRpc("GetExtendedAgentCard", {}, headers);
  expect(rpc.headers.get("cache-control")).toBe("private");
  const card = (await response.json()) as AgentCard;
  expect(await rpc.json()).toEqual({ jsonrpc: "2.0", id: 1, result: card });
  return card;
}

describe("the extended card", () => {
  it("is declared with authentication, and returned to authenticated callers [A-08, A-30]", async () => {
    await using server = await AuthTestServer.start(bearerScheme, {}, agentWithExtendedCard);
    const open = await server.fetchCard();
    expect(open.capabilities.extendedAgentCard).toBe(true);
    expect(open.skills.map(({ id }) => id)).toEqual(["chat"]);
    const { skills, ...rest } = await fetchExtendedCard(server, ADA_HEADERS);
    expect(skills.map(({ id }) => id)).toEqual(["chat", "secret"]);
    expect({ ...rest, skills: open.skills }).toEqual(open);
  });

  it("differs for each caller, and is missing for some [A-32]", async () => {
    await using server = await AuthTestServer.start(bearerScheme, {}, agentWithExtendedCard);
    const { skills, supportedInterfaces } = await fetchExtendedCard(server, DAN_HEADERS);
    expect(skills.map(({ id }) => id)).toEqual(["chat"]);
    // 0.3 has no tenants.
    expect(supportedInterfaces.map(({ tenant }) => tenant)).toEqual(["acme", "acme", undefined, undefined]);
    expect(await fetchRefusal(server, BOB_HEADERS)).toEqual([
      400,
      200,
      "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
      -32007,
    ]);
    expect(await fetchRefusal(server, EVE_HEADERS)).toEqual([403, 403, "PERMISSION_DENIED", -32000]);
  });

  it("requires authentication [A-30, A-34]", async () => {
    await using server = await AuthTestServer.start(bearerScheme, {}, agentWithExtendedCard);
    expect(await fetchRefusal(server, undefined)).toEqual([401, 401, "UNAUTHENTICATED", -32000]);
    expect(await fetchRefusal(server, buildBearerAuthTestHeaders("wrong"))).toEqual([
      401,
      401,
      "UNAUTHENTICATED",
      -32000,
    ]);
  });

  it("requires an authenticated caller even if other operations are public [A-30, A-34]", async () => {
    const anybody = (): Caller => ({ tenant: "", principal: "" });
    await using server = await AuthTestServer.start([bearerScheme, anybody], {}, agentWithExtendedCard);
    expect(await server.fetchListTasksStatus()).toBe(200);
    expect(await fetchRefusal(server, undefined)).toEqual([401, 401, "UNAUTHENTICATED", -32000]);
    const refused = await fetch(`${server.url}/extendedAgentCard`, { headers: { "a2a-version": "1.0" } });
    expect(refused.headers.get("www-authenticate")).toBe(`Bearer realm="a2a"`);
    expect((await fetchExtendedCard(server, ADA_HEADERS)).skills).toHaveLength(2);
  });

  it("is an unsupported operation without authentication [A-31, A-34]", async () => {
    const unoffered = [400, 200, "UNSUPPORTED_OPERATION", -32004];
    await using open = await AuthTestServer.start(undefined, {}, agentWithExtendedCard);
    expect((await open.fetchCard()).capabilities).not.toHaveProperty("extendedAgentCard");
    expect(await fetchRefusal(open, undefined)).toEqual(unoffered);
    await using plain = await AuthTestServer.start(bearerScheme, {}, whoamiTestAgent);
    expect(await fetchRefusal(plain, ADA_HEADERS)).toEqual(unoffered);
  });

  it("that is declared but missing returns the not-configured error [A-31]", async () => {
    const describe = (): ReturnType<Agent["describe"]> => ({
      name: "m",
      description: "m",
      capabilities: { extendedAgentCard: true },
    });
    await using server = await AuthTestServer.start(undefined, {}, { ...whoamiTestAgent, describe });
    expect(await fetchRefusal(server, undefined)).toEqual([
      400,
      200,
      "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
      -32007,
    ]);
  });

  it("is available over 0.3 [A-30]", async () => {
    await using server = await AuthTestServer.start(bearerScheme, {}, agentWithExtendedCard);
    const old = { "a2a-version": "0.3", ...ADA_HEADERS };
    const rpc = await server.sendJsonRpc("agent/getAuthenticatedExtendedCard", {}, old);
    const { result } = (await rpc.json()) as { result: object };
    expect(result).toMatchObject({
      protocolVersion: "0.3.0",
      supportsAuthenticatedExtendedCard: true,
      skills: [{ id: "chat" }, { id: "secret" }],
      security: [{ bearer: [] }],
      securitySchemes: { bearer: { type: "http", scheme: "Bearer" } },
    });
    const rest = await fetch(`${server.url}/v1/card`, { headers: old });
    expect([rest.status, rest.headers.get("cache-control")]).toEqual([200, "private"]);
    expect(await rest.json()).toMatchObject({ skills: [{ id: "chat" }, { id: "secret" }] });
    const refused = await fetch(`${server.url}/v1/card`, { headers: { "a2a-version": "0.3" } });
    expect(refused.status).toBe(401);
  });

  it("has the public URL of the server", async () => {
    await using server = await AuthTestServer.start(
      bearerScheme,
      { publicUrl: "https://agents.example.com/all" },
      agentWithExtendedCard,
    );
    const { supportedInterfaces } = await fetchExtendedCard(server, ADA_HEADERS);
    expect(supportedInterfaces[0]?.url).toBe("https://agents.example.com/all/a2a/discreet");
  });
});
