import { afterEach, beforeEach, expect, it } from "vitest";
import { agent } from "../adapters/index.ts";
import { createServer, type Server } from "./index.ts";

let server: Server;
let url: string;

beforeEach(async () => {
  const mute = agent({ name: "mute", description: "Says nothing" }, async function* () {});
  server = createServer(mute, {
    store: "memory",
    authenticate: ({ header }) => ({ tenant: header("authorization") ?? "", principal: "alice" }),
  });
  ({ url } = await server.listen());
});
afterEach(() => server.close());

/** The status of ListTasks in a tenant, with credentials for another or for none. */
async function list(tenant: string, credentials: string): Promise<number> {
  const headers = { "a2a-version": "1.0", authorization: credentials };
  return (await fetch(`${url}/${tenant}/tasks`, { headers })).status;
}

it("lets nobody into another tenant than the one of his credentials [E13, M-03]", async () => {
  expect(await list("red", "red")).toBe(200);
  expect(await list("blue", "red")).toBe(403);
});

it("leaves the tenant to the request where credentials are for none [K-02]", async () => {
  expect(await list("blue", "")).toBe(200);
});
