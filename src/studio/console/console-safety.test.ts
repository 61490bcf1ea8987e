import { type IncomingMessage, request as httpRequest } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import { ConsoleTestServer, TEST_LAUNCH_TOKEN } from "./console.fixture.ts";

let console: ConsoleTestServer;
afterEach(() => console.close());

const start = async (options = {}): Promise<void> => {
  console = await ConsoleTestServer.start({ parrot: messageCommandTestAgent }, {}, options);
};

/** Sends a request with headers that `fetch` does not allow. Returns the status. */
function requestWithHeaders(method: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const authorization = `Bearer ${TEST_LAUNCH_TOKEN}`;
    const outgoing = httpRequest(`${console.url}/console/${path}`, {
      method,
      headers: { authorization, ...headers },
    });
    outgoing.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

describe("the console of a server without authentication", () => {
  it.each(["session", "agents", "tasks", "lines", "agents/parrot/card", "agents/parrot/tasks/t/lines"])(
    "answers GET %s only with the launch token [SEC-60]",
    async (path) => {
      await start();
      for (const token of [false, "wrong", `${TEST_LAUNCH_TOKEN}x`] as const)
        expect((await console.request(`GET ${path}`, { token })).status).toBe(401);
    },
  );

  it("has no anonymous users without a launch token", async () => {
    await start({ token: undefined });
    for (const token of [false, "undefined", TEST_LAUNCH_TOKEN] as const)
      expect((await console.request("GET session", { token })).status).toBe(401);
  });

  it("accepts only Host headers of this machine", async () => {
    await start();
    expect(await requestWithHeaders("GET", "api/session", {})).toBe(200);
    for (const path of ["api/session", "", "assets/page-1.js"])
      expect([path, await requestWithHeaders("GET", path, { host: "evil.example" })]).toEqual([path, 403]);
  });

  it("refuses requests of pages of other origins [SEC-61]", async () => {
    await start();
    const post = { "x-colloquy-console": "1" };
    expect(await requestWithHeaders("POST", "api/agents/parrot/tasks/t/cancel", post)).toBe(404);
    expect(await requestWithHeaders("POST", "api/agents/parrot/tasks/t/cancel", {})).toBe(403);
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site", origin: "http://localhost:1" },
      { origin: "https://evil.example" },
    ])
      expect(
        await requestWithHeaders("POST", "api/agents/parrot/tasks/t/cancel", { ...post, ...headers }),
      ).toBe(403);
    expect(await requestWithHeaders("GET", "api/session", { "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await requestWithHeaders("OPTIONS", "api/session", { origin: "https://evil.example" })).not.toBe(
      200,
    );
  });

  it.each([
    ["/console?a=b", 308, "console/?a=b"],
    ["/console/..//evil.example", 404, undefined],
    ["/console/..//evil.example/console", 308, "console/"],
    ["/console/%2e%2e//evil.example", 404, undefined],
  ])("never redirects to another host: %s [SEC-84]", async (path, status, location) => {
    await start();
    // `fetch` would resolve the dots.
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(console.url, { path }, resolve).on("error", reject).end();
    });
    response.resume();
    expect([response.statusCode, response.headers.location]).toEqual([status, location]);
  });

  it("forbids other pages to frame the page, and to read or sniff any response [SEC-62]", async () => {
    await start();
    for (const path of ["", "assets/page-1.js", "api/session", "api/nothing"]) {
      const { headers } = await fetch(`${console.url}/console/${path}`);
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

it.each(["", "assets/page-1.js"])(
  "compresses the page and its files, if the browser accepts it: /%s",
  async (path) => {
    await start();
    const readEncoding = async (accepted: string): Promise<string | null> => {
      const response = await fetch(`${console.url}/console/${path}`, {
        headers: { "accept-encoding": accepted },
      });
      expect((await response.text()).length).toBeGreaterThan(0);
      return response.headers.get("content-encoding");
    };
    expect([await readEncoding("gzip, br"), await readEncoding("identity")]).toEqual(["gzip", null]);
  },
);

describe("a console that allows no private hosts", () => {
  it.each([
    "http://127.0.0.1:4120",
    "http://localhost:4120",
    "http://[::1]:4120",
    "http://10.0.0.1",
    "http://169.254.169.254/x",
  ])("does not call %s, which a page names [SEC-66]", async (url) => {
    await start({ allowPrivate: false });
    const agent = await console.readJson<{ id: string; status: string; error: string }>("POST agents", {
      body: { url },
    });
    expect(agent.error).toContain("private network");
    const report = await console.request(`GET agents/${agent.id}/card`);
    expect([report.status, await report.json()]).toMatchObject([
      403,
      { error: { reason: "PERMISSION_DENIED" } },
    ]);
  });

  it("calls a private host that the operator has named", async () => {
    const agents = await ConsoleTestServer.start({ parrot: messageCommandTestAgent });
    await start({ allowPrivate: false, agentUrls: [`${agents.url}/a2a/parrot`] });
    const { agents: listed } = await console.readJson<{
      agents: { name: string; status: string; isOwn: boolean }[];
    }>("GET agents");
    expect(listed.filter(({ isOwn }) => !isOwn)).toMatchObject([{ name: "parrot", status: "connected" }]);
    await agents.close();
  });
});
