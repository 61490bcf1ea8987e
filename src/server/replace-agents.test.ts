import { describe, expect, it, onTestFinished } from "vitest";
import { agent, type AgentGenerator } from "../agents/adapters/index.ts";
import type { Agent } from "../engine/index.ts";
import type { AgentCard, Task } from "../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "./index.ts";
import { buildTestMessage, V1_JSON_TEST_HEADERS } from "./server.fixture.ts";

function createWord(word: string, name = "word"): Agent {
  return agent({ name, description: `Says ${word}.` }, async function* () {
    yield word;
  });
}

function startServer(agents: Record<string, Agent>, options: ServerOptions = {}): Server {
  const server = createServer(agents, { store: "memory", ...options });
  onTestFinished(() => server.close());
  return server;
}

async function ask(server: Server, id = "word"): Promise<string | number> {
  const response = await server.fetch(
    new Request(`http://localhost/a2a/${id}/message:send`, {
      method: "POST",
      headers: V1_JSON_TEST_HEADERS,
      body: JSON.stringify({ message: buildTestMessage("x") }),
    }),
  );
  if (response.status !== 200) return response.status;
  const { task } = (await response.json()) as { task: Task };
  const part = task.artifacts?.[0]?.parts[0];
  return part && "text" in part ? part.text : "";
}

async function fetchCard(server: Server, path = "/a2a/word", etag = ""): Promise<Response> {
  const headers = etag === "" ? {} : { "if-none-match": etag };
  return await server.fetch(new Request(`http://localhost${path}/.well-known/agent-card.json`, { headers }));
}

describe("replaceAgents", () => {
  it("serves the new agents at the next message, under the same and under new ids", async () => {
    const server = startServer({ word: createWord("one") });
    expect(await ask(server)).toBe("one");
    await server.replaceAgents({ other: createWord("three"), word: createWord("two") });
    expect([await ask(server), await ask(server, "other")]).toEqual(["two", "three"]);
    const root = (await (await fetchCard(server, "")).json()) as AgentCard;
    expect(root.description).toBe("Says three.");
    const list = (await (await server.fetch(new Request("http://localhost/a2a"))).json()) as {
      agents: { id: string }[];
    };
    expect(list.agents.map(({ id }) => id)).toEqual(["other", "word"]);
  });

  it("changes the ETag of a card only if the card changes", async () => {
    const server = startServer({ word: createWord("one") }, { cardMaxAgeSeconds: 0 });
    const first = await fetchCard(server);
    const etag = first.headers.get("etag") ?? "";
    expect(first.headers.get("cache-control")).toBe("public, max-age=0");
    await server.replaceAgents({ word: createWord("one") });
    expect((await fetchCard(server, "/a2a/word", etag)).status).toBe(304);
    await server.replaceAgents({ word: createWord("two") });
    const changed = await fetchCard(server, "/a2a/word", etag);
    expect(((await changed.json()) as AgentCard).description).toBe("Says two.");
  });

  it("enforces the capabilities of the new agent", async () => {
    const server = startServer({ word: createWord("one") });
    const stream = async (): Promise<number> => {
      const response = await server.fetch(
        new Request("http://localhost/a2a/word/message:stream", {
          method: "POST",
          headers: V1_JSON_TEST_HEADERS,
          body: JSON.stringify({ message: buildTestMessage("x") }),
        }),
      );
      await response.text();
      return response.status;
    };
    expect(await stream()).toBe(200);
    const silent = createWord("two");
    const capabilities = { streaming: false };
    await server.replaceAgents({
      word: {
        describe: () => ({ name: "word", description: "d", capabilities }),
        execute: (run) => silent.execute(run),
      },
    });
    expect(await stream()).toBe(400);
  });

  it("finishes the running turns of a removed agent, whose URL is gone until it returns", async () => {
    let finish = (): void => {};
    const work: AgentGenerator = async function* () {
      yield "begun ";
      await new Promise<void>((resolve) => (finish = resolve));
      yield "and finished";
    };
    const slow = agent({ name: "slow", description: "Waits." }, work);
    const server = startServer({ slow, word: createWord("one") });
    const answer = ask(server, "slow");
    await expect.poll(() => finish.name).not.toBe("finish");
    await server.replaceAgents({ word: createWord("one") });
    expect(await ask(server, "slow")).toBe(404);
    finish();
    expect(await answer).toBe("begun and finished");
    await server.replaceAgents({ slow: createWord("back", "slow") });
    expect(await ask(server, "slow")).toBe("back");
  });

  it("changes nothing if the description of an agent is not a valid card", async () => {
    const server = startServer({ word: createWord("one") });
    const invalid: Agent = { ...createWord("two"), describe: () => ({ name: "", description: "" }) };
    await expect(server.replaceAgents({ word: createWord("two"), invalid })).rejects.toThrow(
      /invalid description: name must not be empty/,
    );
    expect([await ask(server), await ask(server, "invalid")]).toEqual(["one", 404]);
    await expect(server.replaceAgents({})).rejects.toThrow("without an agent");
  });

  it("lists the gRPC interfaces in the cards of new agents", async () => {
    const server = startServer({ word: createWord("one") });
    const { grpc } = await server.listen({ grpc: true });
    await server.replaceAgents({ word: createWord("one"), late: createWord("late", "late") });
    const card = (await (await fetchCard(server, "/a2a/late")).json()) as AgentCard;
    const interfaces = card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === "GRPC");
    expect(interfaces.map(({ url, tenant }) => [url.split(":").at(-1), tenant])).toEqual([
      [String(grpc?.port), "late"],
    ]);
  });
});
