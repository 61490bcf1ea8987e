import { describe, expect, it, onTestFinished } from "vitest";
import { bearer } from "./auth/index.ts";
import {
  createServer,
  type MountedHandler,
  type CallerAgentAccess,
  type Server,
  type ServerOptions,
} from "./index.ts";
import { buildTestMessage, messageCommandTestAgent } from "./server.fixture.ts";

const reportedErrors: unknown[] = [];

function createTestServer(beside: MountedHandler, options: ServerOptions = {}): Server {
  const observer = { onError: ({ error }: { error: unknown }) => void reportedErrors.push(error) };
  const server = createServer(
    { parrot: messageCommandTestAgent },
    { store: "memory", mountedHandlers: [beside], observer, ...options },
  );
  onTestFinished(() => server.close());
  return server;
}

const adaScheme = bearer({ tokens: { "the-token-of-ada": "ada" } });
const ADA_HEADERS = { authorization: "Bearer the-token-of-ada" };

const createRequest = (path: string, headers: Record<string, string> = {}): Request =>
  new Request(`http://agents.test${path}`, { headers });

/** A mounted handler that runs a test function with the caller context. */
const createMountedHandler = (
  work: (inside: CallerAgentAccess) => Promise<Response> | Response,
): MountedHandler => ({
  matchesPath: (path) => path === "/beside",
  handle: async (_request, enter) => work(await enter()),
});

describe("a mounted handler", () => {
  it("receives only its own paths", async () => {
    const server = createTestServer({
      matchesPath: (path) => path.startsWith("/page"),
      handle: ({ url }) => Promise.resolve(new Response(url)),
    });
    expect(await (await server.fetch(createRequest("/page/a?b=c"))).text()).toBe(
      "http://agents.test/page/a?b=c",
    );
    expect((await server.fetch(createRequest("/a2a"))).headers.get("content-type")).toBe("application/json");
    expect((await server.fetch(createRequest("/elsewhere"))).status).toBe(404);
  });

  it("authenticates callers with the server's authentication", async () => {
    const server = createTestServer(
      createMountedHandler(({ caller }) => new Response(caller.principal)),
      { authenticate: adaScheme },
    );
    expect(await (await server.fetch(createRequest("/beside", ADA_HEADERS))).text()).toBe("ada");
    const refused = await server.fetch(
      createRequest("/beside", { authorization: "Bearer another-token-of-no-one" }),
    );
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, expect.any(String)]);
    expect(reportedErrors).toEqual([]);
  });

  it("reads no more of a body than the share of the caller allows, also through server.fetch", async () => {
    const server = createTestServer(
      {
        matchesPath: () => true,
        handle: async (request, enter) => {
          await enter();
          return new Response(String((await request.text()).length));
        },
      },
      // One caller can reserve a fifth.
      { authenticate: adaScheme, limits: { bufferedBytes: 1_000_000 } },
    );
    const post = (chunks: number): Promise<Response> => {
      const body = ReadableStream.from(Array.from({ length: chunks }, () => new Uint8Array(100_000)));
      return server.fetch(
        new Request("http://agents.test/beside", {
          method: "POST",
          headers: ADA_HEADERS,
          body,
          duplex: "half",
        }),
      );
    };
    expect((await post(4)).status).toBe(429);
    for (let round = 0; round < 3; round++) expect(await (await post(2)).text()).toBe("200000");
  });

  it("calls the agents as that caller without credentials", async () => {
    const server = createTestServer(
      createMountedHandler(({ url, fetch }) =>
        fetch(
          new Request(`${url}/a2a/parrot/message:send`, {
            method: "POST",
            headers: { "content-type": "application/json", "a2a-version": "1.0" },
            body: JSON.stringify({ message: buildTestMessage("echo hi") }),
          }),
        ),
      ),
      { authenticate: adaScheme },
    );
    const { task } = (await (await server.fetch(createRequest("/beside", ADA_HEADERS))).json()) as {
      task: { id: string };
    };
    const version = { "a2a-version": "1.0" };
    const owned = await server.fetch(
      createRequest(`/a2a/parrot/tasks/${task.id}`, { ...ADA_HEADERS, ...version }),
    );
    expect(owned.status).toBe(200);
    expect((await server.fetch(createRequest(`/a2a/parrot/tasks/${task.id}`, version))).status).toBe(401);
  });

  it("reaches the agents in process, whatever the public URL is", async () => {
    const server = createTestServer(
      createMountedHandler(({ url, fetch }) =>
        fetch(new Request(`${url}/a2a/parrot/.well-known/agent-card.json`)),
      ),
      { publicUrl: "https://example.com/all" },
    );
    const card = (await (await server.fetch(createRequest("/beside"))).json()) as {
      supportedInterfaces: { url: string }[];
    };
    expect(card.supportedInterfaces[0]?.url).toBe("http://localhost/a2a/parrot");
  });

  it("reports its errors to the observer, and hides them from clients", async () => {
    const server = createTestServer(
      createMountedHandler(() => {
        throw new Error("secret");
      }),
    );
    const answer = await server.fetch(createRequest("/beside"));
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("secret");
    expect(reportedErrors.splice(0)).toMatchObject([{ message: "secret" }]);
  });
});
