import { afterEach, describe, expect, it } from "vitest";
import { createConsole, type Console, type ConsoleOptions } from "../../entries/console.ts";
import { bearer } from "../../server/auth/index.ts";
import { createServer, type Server, type ServerOptions } from "../../server/index.ts";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import type { ConsoleAgentList } from "../console-api/index.ts";

let server: Server;
let mounted: Console;
afterEach(async () => {
  mounted.close();
  await server.close();
});

function mount(consoleOptions: ConsoleOptions = {}, serverOptions: ServerOptions = {}): void {
  mounted = createConsole(consoleOptions);
  server = createServer(
    { parrot: messageCommandTestAgent },
    { store: "memory", observer: false, ...serverOptions, mountedHandlers: [mounted] },
  );
}

const get = (path: string, token?: string): Promise<Response> =>
  server.fetch(
    new Request(`http://127.0.0.1:4122${path}`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    }),
  );

async function listAgentIds(path: string, token: string): Promise<string[]> {
  const { agents } = (await (await get(path, token)).json()) as ConsoleAgentList;
  return agents.map(({ id }) => id);
}

describe("a console that a program mounts", () => {
  it("serves the page of Colloquy with a policy for its scripts", async () => {
    mount({ name: "My agents" });
    const page = await get("/console/");
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    const html = await page.text();
    expect(html).toContain("<title>My agents</title>");
    const script = /src="(assets\/console-[^"]+\.js)"/.exec(html)?.[1];
    const response = await get(`/console/${script}`);
    expect(response.headers.get("content-type")).toContain("text/javascript");
    expect((await response.text()).length).toBeGreaterThan(100_000);
  });

  it("refuses anonymous users without its token [SEC-72]", async () => {
    mount();
    expect((await get("/console/api/agents")).status).toBe(401);
    expect((await get("/console/api/agents", "guess")).status).toBe(401);
    mounted.close();
    mount({ token: "launch" });
    expect((await get("/console/api/agents", "guess")).status).toBe(401);
    expect(await listAgentIds("/console/api/agents", "launch")).toEqual(["parrot"]);
  });

  it("accepts only the callers that a server with authentication accepts", async () => {
    mount({ token: "launch" }, { authenticate: bearer({ tokens: { "key-of-alice-123456": "alice" } }) });
    expect((await get("/console/api/agents", "launch")).status).toBe(401);
    expect(await listAgentIds("/console/api/agents", "key-of-alice-123456")).toEqual(["parrot"]);
  });

  it("refuses agents of private hosts", async () => {
    mount({ token: "launch" });
    const response = await server.fetch(
      new Request("http://127.0.0.1:4122/console/api/agents", {
        method: "POST",
        headers: {
          authorization: "Bearer launch",
          "content-type": "application/json",
          "x-colloquy-console": "1",
        },
        body: JSON.stringify({ url: "http://127.0.0.1:4129/" }),
      }),
    );
    const { id, status, error } = (await response.json()) as { id: string; status: string; error: string };
    expect({ id, status }).toEqual({ id: expect.any(String) as unknown, status: "degraded" });
    expect(error).toContain("pass the URL when you start the console");
  });

  it("is below the base path of the server", async () => {
    mount({ token: "launch" }, { basePath: "/agents" });
    expect((await get("/agents/console/")).status).toBe(200);
    expect(await listAgentIds("/agents/console/api/agents", "launch")).toEqual(["parrot"]);
    expect((await get("/console/")).status).toBe(404);
  });
});
