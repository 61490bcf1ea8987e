import { describe, expect, it } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import { createServer } from "./index.ts";

const greet = (name: string): ReturnType<typeof agent> =>
  agent({ name, description: `The agent ${name}` }, async function* () {
    yield "hi";
  });

const AGENTS = { hello: greet("Hello"), "second.one": greet("Second") };

/** Reads a list of a server whose agents are at `publicUrl`. */
async function readList(path: string, publicUrl?: string, method = "GET"): Promise<Response> {
  const server = createServer(AGENTS, { store: "memory", ...(publicUrl ? { publicUrl } : {}) });
  return await server.fetch(new Request(`http://127.0.0.1:4000${path}`, { method }));
}

describe("the AI catalog of a server", () => {
  it("lists the agent cards by names of their domain", async () => {
    const response = await readList("/.well-known/ai-catalog.json", "https://agents.example.com/base");
    expect(response.headers.get("content-type")).toBe("application/ai-catalog+json");
    expect(await response.json()).toEqual({
      specVersion: "0.9",
      entries: [
        {
          identifier: "urn:air:agents.example.com:hello:a2a",
          type: "application/a2a-agent-card+json",
          url: "https://agents.example.com/base/a2a/hello/.well-known/agent-card.json",
        },
        {
          identifier: "urn:air:agents.example.com:second.one:a2a",
          type: "application/a2a-agent-card+json",
          url: "https://agents.example.com/base/a2a/second.one/.well-known/agent-card.json",
        },
      ],
    });
  });

  it.each(["http://127.0.0.1:4000", "http://localhost:4000", "http://[::1]:4000"])(
    "identifies the agents of %s, which is no domain, by the URL of their cards",
    async (publicUrl) => {
      const response = await readList("/.well-known/ai-catalog.json", publicUrl);
      const { entries } = (await response.json()) as { entries: { identifier: string; url: string }[] };
      expect(entries.map(({ identifier }) => identifier)).toEqual(entries.map(({ url }) => url));
      expect(entries[0]?.url).toBe(`${publicUrl}/a2a/hello/.well-known/agent-card.json`);
    },
  );
});

describe("the API catalog of a server", () => {
  it("describes each agent by its card (RFC 9727 §2, §4.2)", async () => {
    const response = await readList("/.well-known/api-catalog");
    expect(response.headers.get("content-type")).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    );
    expect(await response.json()).toEqual({
      linkset: ["hello", "second.one"].map((id) => ({
        anchor: `http://127.0.0.1:4000/a2a/${id}`,
        "service-desc": [
          {
            href: `http://127.0.0.1:4000/a2a/${id}/.well-known/agent-card.json`,
            type: "application/a2a-agent-card+json",
          },
        ],
      })),
    });
  });

  it("links to itself in the response to HEAD (RFC 9727 §2)", async () => {
    const response = await readList("/.well-known/api-catalog", undefined, "HEAD");
    expect(response.status).toBe(200);
    expect(response.headers.get("link")).toBe(
      '<http://127.0.0.1:4000/.well-known/api-catalog>; rel="api-catalog"',
    );
    expect(await response.text()).toBe("");
  });
});

it.each(["/a2a", "/.well-known/ai-catalog.json", "/.well-known/api-catalog"])(
  "%s is for reading only",
  async (path) => {
    const response = await readList(path, undefined, "POST");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  },
);
