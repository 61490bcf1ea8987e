import { describe, expect, it, onTestFinished } from "vitest";
import { bearer } from "./auth/index.ts";
import { createServer, type Beside, type Inside, type Server, type ServerOptions } from "./index.ts";
import { message, parrot } from "./server.fixture.ts";

const errors: unknown[] = [];

function serve(beside: Beside, options: ServerOptions = {}): Server {
  const observer = { onError: ({ error }: { error: unknown }) => void errors.push(error) };
  const server = createServer({ parrot }, { store: "memory", beside: [beside], observer, ...options });
  onTestFinished(() => server.close());
  return server;
}

const authenticate = bearer({ tokens: { "the-token-of-ada": "ada" } });
const ADA = { authorization: "Bearer the-token-of-ada" };

const at = (path: string, headers: Record<string, string> = {}): Request =>
  new Request(`http://agents.test${path}`, { headers });

/** Answers with what it is told to do once it is inside. */
const within = (work: (inside: Inside) => Promise<Response> | Response): Beside => ({
  takes: (path) => path === "/beside",
  answer: async (_request, enter) => work(await enter()),
});

describe("what stands beside the agents", () => {
  it("gets its paths, and nothing else", async () => {
    const server = serve({
      takes: (path) => path.startsWith("/page"),
      answer: ({ url }) => Promise.resolve(new Response(url)),
    });
    expect(await (await server.fetch(at("/page/a?b=c"))).text()).toBe("http://agents.test/page/a?b=c");
    expect((await server.fetch(at("/a2a"))).headers.get("content-type")).toBe("application/json");
    expect((await server.fetch(at("/elsewhere"))).status).toBe(404);
  });

  it("learns who asks by the server's authentication, and gets nobody past it", async () => {
    const server = serve(
      within(({ caller }) => new Response(caller.principal)),
      { authenticate },
    );
    expect(await (await server.fetch(at("/beside", ADA))).text()).toBe("ada");
    const refused = await server.fetch(at("/beside", { authorization: "Bearer another-token-of-no-one" }));
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, expect.any(String)]);
    expect(errors).toEqual([]);
  });

  it("speaks with the agents as that caller, and needs no credentials any more", async () => {
    const server = serve(
      within(({ url, fetch }) =>
        fetch(
          new Request(`${url}/a2a/parrot/message:send`, {
            method: "POST",
            headers: { "content-type": "application/json", "a2a-version": "1.0" },
            body: JSON.stringify({ message: message("echo hi") }),
          }),
        ),
      ),
      { authenticate },
    );
    const { task } = (await (await server.fetch(at("/beside", ADA))).json()) as { task: { id: string } };
    const version = { "a2a-version": "1.0" };
    const owned = await server.fetch(at(`/a2a/parrot/tasks/${task.id}`, { ...ADA, ...version }));
    expect(owned.status).toBe(200);
    expect((await server.fetch(at(`/a2a/parrot/tasks/${task.id}`, version))).status).toBe(401);
  });

  it("finds the agents inside, wherever the server is published", async () => {
    const server = serve(
      within(({ url, fetch }) => fetch(new Request(`${url}/a2a/parrot/.well-known/agent-card.json`))),
      { publicUrl: "https://example.com/all" },
    );
    const card = (await (await server.fetch(at("/beside"))).json()) as {
      supportedInterfaces: { url: string }[];
    };
    expect(card.supportedInterfaces[0]?.url).toBe("http://localhost/a2a/parrot");
  });

  it("that falls over is told of to the owner, and says nothing of it to clients", async () => {
    const server = serve(
      within(() => {
        throw new Error("secret");
      }),
    );
    const answer = await server.fetch(at("/beside"));
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("secret");
    expect(errors.splice(0)).toMatchObject([{ message: "secret" }]);
  });
});
