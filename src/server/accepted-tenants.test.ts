import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import type { Agent } from "../engine/index.ts";
import { A2AError, type AgentCard } from "../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "./index.ts";
import { buildTestMessage, messageCommandTestAgent } from "./server.fixture.ts";

let server: Server;
let url: string;

const silentAgent = agent({ name: "mute", description: "Says nothing" }, async function* () {}, {
  describeExtended: () => ({}),
});

async function startServer(options: ServerOptions = {}, served: Agent = silentAgent): Promise<void> {
  server = createServer(served, {
    store: "memory",
    authenticate: ({ header }) => ({ tenant: header("authorization") ?? "", principal: "alice" }),
    ...options,
  });
  ({ url } = await server.listen());
}
afterEach(() => server.close());

const buildHeaders = (credentials: string): Record<string, string> => ({
  "a2a-version": "1.0",
  "content-type": "application/json",
  authorization: credentials,
});

/** Returns the status of a ListTasks request in a tenant, with credentials for another tenant or for none. */
async function getListStatus(tenant: string, credentials: string): Promise<number> {
  const path = tenant === "" ? "/tasks" : `/${tenant}/tasks`;
  return (await fetch(url + path, { headers: buildHeaders(credentials) })).status;
}

/** Returns the error reason of a ListTasks request over JSON-RPC in a tenant. */
async function getListErrorReason(tenant: string | undefined, credentials = ""): Promise<string | undefined> {
  const params = tenant === undefined ? {} : { tenant };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params });
  const response = await fetch(url, { method: "POST", headers: buildHeaders(credentials), body });
  const { error } = (await response.json()) as { error?: { data: { reason?: string }[] } };
  return error?.data[0]?.reason;
}

const fetchCardTenants = async (path: string): Promise<(string | undefined)[]> => {
  const card = (await (await fetch(url + path, { headers: buildHeaders("") })).json()) as AgentCard;
  // 0.3 has no tenants.
  const able = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === "1.0");
  return able.map(({ tenant }) => tenant);
};

describe("tenants", () => {
  it("reject credentials for another tenant [E13, M-02, M-03]", async () => {
    await startServer();
    expect(await getListStatus("red", "red")).toBe(200);
    expect(await getListStatus("blue", "red")).toBe(403);
    expect(await getListErrorReason("blue", "red")).toBe("PERMISSION_DENIED");
  });

  it("are selected by the request when credentials have no tenant [K-02]", async () => {
    await startServer();
    expect(await getListStatus("blue", "")).toBe(200);
  });

  it("that a caller may choose share one limit [E14]", async () => {
    await startServer({ limits: { runsPerCaller: 1 } }, messageCommandTestAgent);
    const say = async (tenant: string, credentials: string, text: string): Promise<number> => {
      const body = JSON.stringify({
        message: buildTestMessage(text),
        configuration: { returnImmediately: true },
      });
      const path = tenant === "" ? "/message:send" : `/${tenant}/message:send`;
      return (await fetch(url + path, { method: "POST", headers: buildHeaders(credentials), body })).status;
    };
    expect(await say("red", "", "wait")).toBe(200);
    expect([await say("blue", "", "echo"), await say("", "", "echo")]).toEqual([429, 429]);
    // The same principal in an assigned tenant is a different caller.
    expect(await say("red", "red", "wait")).toBe(200);
    expect(await say("", "red", "echo")).toBe(429);
  });

  it("that are not served return NOT_FOUND in both bindings, also without a tenant [K-02]", async () => {
    await startServer({ tenants: ["red", "blue"] });
    expect([
      await getListStatus("red", ""),
      await getListStatus("blue", ""),
      await getListStatus("", "red"),
    ]).toEqual([200, 200, 200]);
    expect([
      await getListStatus("green", ""),
      await getListStatus("RED", ""),
      await getListStatus("", ""),
    ]).toEqual([404, 404, 404]);
    expect([
      await getListErrorReason("red"),
      await getListErrorReason("green"),
      await getListErrorReason(undefined),
    ]).toEqual([undefined, "NOT_FOUND", "NOT_FOUND"]);
    // Credentials for one tenant do not reveal which other tenants exist.
    expect([await getListStatus("blue", "red"), await getListStatus("green", "red")]).toEqual([403, 403]);
  });

  it("can be checked by a function, whose failure rejects the request [K-02, M-03]", async () => {
    const checkedTenants: unknown[] = [];
    await startServer({
      tenants: async (tenant, { principal }) => {
        checkedTenants.push([tenant, principal]);
        if (tenant === "broken") throw new A2AError("UNAVAILABLE", "Later.");
        return Promise.resolve(tenant === "red");
      },
    });
    expect([
      await getListStatus("red", ""),
      await getListStatus("blue", ""),
      await getListStatus("broken", ""),
    ]).toEqual([200, 404, 503]);
    expect(checkedTenants).toEqual(["red", "blue", "broken"].map((tenant) => [tenant, "alice"]));
  });

  it("are in the card when there is only one, otherwise only in the extended card [A-09]", async () => {
    await startServer({ tenants: ["red"] });
    expect(await fetchCardTenants("/.well-known/agent-card.json")).toEqual(["red", "red"]);
    await server.close();
    await startServer({ tenants: ["red", "blue"] });
    expect(await fetchCardTenants("/.well-known/agent-card.json")).toEqual([undefined, undefined]);
    expect(await fetchCardTenants("/blue/extendedAgentCard")).toEqual(["blue", "blue"]);
  });

  it("must be equal in path and body [D-11]", async () => {
    await startServer();
    const send = async (tenant: string): Promise<number> => {
      const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Hello" }] };
      const body = JSON.stringify({ tenant, message });
      return (await fetch(`${url}/red/message:send`, { method: "POST", headers: buildHeaders(""), body }))
        .status;
    };
    expect([await send("red"), await send("blue")]).toEqual([200, 400]);
  });
});
