import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../adapters/index.ts";
import type { Agent } from "../engine/index.ts";
import { A2AError, type AgentCard } from "../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "./index.ts";
import { message, parrot } from "./server.fixture.ts";

let server: Server;
let url: string;

const mute = agent({ name: "mute", description: "Says nothing" }, async function* () {}, {
  describeExtended: () => ({}),
});

async function open(options: ServerOptions = {}, served: Agent = mute): Promise<void> {
  server = createServer(served, {
    store: "memory",
    authenticate: ({ header }) => ({ tenant: header("authorization") ?? "", principal: "alice" }),
    ...options,
  });
  ({ url } = await server.listen());
}
afterEach(() => server.close());

const headersFor = (credentials: string): Record<string, string> => ({
  "a2a-version": "1.0",
  "content-type": "application/json",
  authorization: credentials,
});

/** The status of ListTasks in a tenant, with credentials for another or for none. */
async function list(tenant: string, credentials: string): Promise<number> {
  const path = tenant === "" ? "/tasks" : `/${tenant}/tasks`;
  return (await fetch(url + path, { headers: headersFor(credentials) })).status;
}

/** The reason why JSON-RPC refuses ListTasks in a tenant. */
async function refusal(tenant: string | undefined, credentials = ""): Promise<string | undefined> {
  const params = tenant === undefined ? {} : { tenant };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params });
  const response = await fetch(url, { method: "POST", headers: headersFor(credentials), body });
  const { error } = (await response.json()) as { error?: { data: { reason?: string }[] } };
  return error?.data[0]?.reason;
}

const interfacesOf = async (path: string): Promise<(string | undefined)[]> => {
  const card = (await (await fetch(url + path, { headers: headersFor("") })).json()) as AgentCard;
  // 0.3 has no tenants.
  const able = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === "1.0");
  return able.map(({ tenant }) => tenant);
};

describe("tenants", () => {
  it("are closed to credentials for another [E13, M-02, M-03]", async () => {
    await open();
    expect(await list("red", "red")).toBe(200);
    expect(await list("blue", "red")).toBe(403);
    expect(await refusal("blue", "red")).toBe("PERMISSION_DENIED");
  });

  it("are left to the request where credentials are for none [K-02]", async () => {
    await open();
    expect(await list("blue", "")).toBe(200);
  });

  it("that a caller may choose are counted as one caller's [E14]", async () => {
    await open({ limits: { runsPerCaller: 1 } }, parrot);
    const say = async (tenant: string, credentials: string, text: string): Promise<number> => {
      const body = JSON.stringify({ message: message(text), configuration: { returnImmediately: true } });
      const path = tenant === "" ? "/message:send" : `/${tenant}/message:send`;
      return (await fetch(url + path, { method: "POST", headers: headersFor(credentials), body })).status;
    };
    expect(await say("red", "", "wait")).toBe(200);
    expect([await say("blue", "", "echo"), await say("", "", "echo")]).toEqual([429, 429]);
    // Who has the same name in a tenant of its own is somebody else.
    expect(await say("red", "red", "wait")).toBe(200);
    expect(await say("", "red", "echo")).toBe(429);
  });

  it("that are not served are not found, in either binding; none named is none served [K-02]", async () => {
    await open({ tenants: ["red", "blue"] });
    expect([await list("red", ""), await list("blue", ""), await list("", "red")]).toEqual([200, 200, 200]);
    expect([await list("green", ""), await list("RED", ""), await list("", "")]).toEqual([404, 404, 404]);
    expect([await refusal("red"), await refusal("green"), await refusal(undefined)]).toEqual([
      undefined,
      "NOT_FOUND",
      "NOT_FOUND",
    ]);
    // Credentials for one tenant tell nothing of which others there are.
    expect([await list("blue", "red"), await list("green", "red")]).toEqual([403, 403]);
  });

  it("may be looked up for each caller; a failure lets nobody in [K-02, M-03]", async () => {
    const asked: unknown[] = [];
    await open({
      tenants: async (tenant, { principal }) => {
        asked.push([tenant, principal]);
        if (tenant === "broken") throw new A2AError("UNAVAILABLE", "Later.");
        return Promise.resolve(tenant === "red");
      },
    });
    expect([await list("red", ""), await list("blue", ""), await list("broken", "")]).toEqual([
      200, 404, 503,
    ]);
    expect(asked).toEqual(["red", "blue", "broken"].map((tenant) => [tenant, "alice"]));
  });

  it("are named by the card when there is but one, else only to whom they are of [A-09]", async () => {
    await open({ tenants: ["red"] });
    expect(await interfacesOf("/.well-known/agent-card.json")).toEqual(["red", "red"]);
    await server.close();
    await open({ tenants: ["red", "blue"] });
    expect(await interfacesOf("/.well-known/agent-card.json")).toEqual([undefined, undefined]);
    expect(await interfacesOf("/blue/extendedAgentCard")).toEqual(["blue", "blue"]);
  });

  it("in path and body must be one [D-11]", async () => {
    await open();
    const send = async (tenant: string): Promise<number> => {
      const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Hello" }] };
      const body = JSON.stringify({ tenant, message });
      return (await fetch(`${url}/red/message:send`, { method: "POST", headers: headersFor(""), body }))
        .status;
    };
    expect([await send("red"), await send("blue")]).toEqual([200, 400]);
  });
});
