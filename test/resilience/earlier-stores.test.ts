/** Stores of earlier commits, in which agent ids come from file names. */
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../../src/adapters/index.ts";
import { createTempTestDirectoryWithFiles } from "../../src/cli/cli-test-process.fixture.ts";
import { AdkAgentFactory } from "../../src/cli/serve/adk-agent-factory.ts";
import { loadAgentFiles } from "../../src/cli/serve/load-agent-files.ts";
import { collect, connect } from "../../src/client/index.ts";
import type { Agent } from "../../src/engine/index.ts";
import { getText, type Task } from "../../src/protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../src/server/index.ts";

const EARLIER_STORE = new URL("../vectors/earlier-stores/store-of-05eb8c4.sql", import.meta.url);
const ADAPTERS = JSON.stringify(new URL("../../src/adapters/index.ts", import.meta.url).href);
const ADK_ROOM = JSON.stringify(new URL("../../src/adk/index.ts", import.meta.url).href);
const ADK = JSON.stringify(import.meta.resolve("@google/adk"));

/** The agents that the earlier commit served from these files. */
const AGENT_FILES = {
  "counter-file.ts": `import { LlmAgent } from ${ADK};
    import { ScriptedLlm } from ${ADK_ROOM};
    const model = new ScriptedLlm(({ request }) => request.contents.length + " before you");
    export const rootAgent = new LlmAgent({ name: "counter", description: "Counts", model });`,
  "forecast-file.ts": `import { agent } from ${ADAPTERS};
    export default agent({ name: "Weather agent", description: "Knows the weather" }, async function* () {
      yield "sunny";
    });`,
  // The name of this agent is the name of another file.
  "swapped.ts": `import { agent } from ${ADAPTERS};
    export default agent({ name: "forecast-file", description: "Is not in its file" }, async function* () {
      yield "swapped";
    });`,
};

let close: () => Promise<void> = async () => {};
afterEach(() => close());

async function createDirectoryWithEarlierStore(): Promise<{ directory: string; store: `sqlite:${string}` }> {
  const directory = await createTempTestDirectoryWithFiles(AGENT_FILES);
  const file = join(directory, "tasks.db");
  const db = new DatabaseSync(file);
  db.exec(await readFile(EARLIER_STORE, "utf8"));
  db.close();
  return { directory, store: `sqlite:${file}` };
}

async function listen(
  agents: Agent | Record<string, Agent>,
  options: ServerOptions,
): Promise<Record<string, string>> {
  const server: Server = createServer(agents, options);
  const { agents: served } = await server.listen();
  close = () => server.close();
  return Object.fromEntries(served.map(({ id, url }) => [id, url]));
}

/** Serves the agent files as `colloquy serve` does. */
async function serveDirectory(directory: string, store: `sqlite:${string}`): Promise<Record<string, string>> {
  const adk = new AdkAgentFactory({});
  const { agents, previousAgentIds, skipped } = await loadAgentFiles([directory], adk);
  expect(skipped).toEqual([]);
  const urls = await listen(agents, { store, previousAgentIds });
  await adk.adoptEarlierSessions(store.slice("sqlite:".length));
  return urls;
}

async function listContexts(url: string): Promise<string[]> {
  const { tasks } = await (await connect(url)).tasks.list();
  return tasks.map(({ contextId }) => contextId);
}

async function ask(url: string, text: string, contextId: string): Promise<Task> {
  const answer = await collect((await connect(url)).stream(text, { contextId }));
  if ("task" in answer) return answer.task;
  throw new Error("The agent answered with a message.");
}

describe("the tasks in a store of an earlier commit, whose agent ids come from file names", () => {
  it("belong to the agents of the files, whose ids now come from the agents' names", async () => {
    const { directory, store } = await createDirectoryWithEarlierStore();
    for (const attempt of [1, 2]) {
      const urls = await serveDirectory(directory, store);
      expect(Object.keys(urls), `attempt ${attempt}`).toEqual(["counter", "weather-agent", "forecast-file"]);
      const contexts = await Promise.all(Object.values(urls).map(listContexts));
      expect(contexts).toEqual([["context-counter-file"], ["context-forecast-file"], ["context-swapped"]]);
      await close();
    }
  });

  it("remain when the files are renamed later, with the sessions of ADK agents", async () => {
    const { directory, store } = await createDirectoryWithEarlierStore();
    await serveDirectory(directory, store);
    await close();
    await rename(join(directory, "forecast-file.ts"), join(directory, "rain.ts"));
    await rename(join(directory, "counter-file.ts"), join(directory, "swapped-counter.ts"));
    const { counter = "", "weather-agent": weather = "" } = await serveDirectory(directory, store);
    expect(await listContexts(weather)).toEqual(["context-forecast-file"]);
    const { artifacts } = await ask(counter, "Hello", "context-counter-file");
    expect(getText(artifacts?.[0]?.parts ?? [])).toBe("3 before you");
    expect(await listContexts(counter)).toHaveLength(2);
  });

  it("are available under the earlier URL of the agent, unless another agent has the id", async () => {
    const { directory, store } = await createDirectoryWithEarlierStore();
    const { counter = "" } = await serveDirectory(directory, store);
    expect(await listContexts(counter.replace(/counter$/, "counter-file"))).toEqual(["context-counter-file"]);
    expect(await listContexts(counter.replace(/counter$/, "forecast-file"))).toEqual(["context-swapped"]);
  });

  it("belong to a single agent, whose id was always `agent`", async () => {
    const { store } = await createDirectoryWithEarlierStore();
    const single = agent({ name: "Weather agent", description: "Knows the weather" }, async function* () {
      yield "sunny";
    });
    const urls = await listen(single, { store });
    expect(Object.keys(urls)).toEqual(["weather-agent"]);
    expect(await listContexts(urls["weather-agent"] ?? "")).toEqual(["context-single"]);
  });

  it("belong to the agent with the same explicit id, and never to an agent with only the same name", async () => {
    const { store } = await createDirectoryWithEarlierStore();
    const swapped = agent({ name: "forecast-file", description: "Another agent" }, async function* () {
      yield "swapped";
    });
    const byName = await listen(swapped, { store });
    expect(await listContexts(byName["forecast-file"] ?? "")).toEqual(["context-single"]);
    await close();
    const byId = await listen({ "forecast-file": swapped }, { store });
    // The single agent already has tasks under this id.
    expect(await listContexts(byId["forecast-file"] ?? "")).toEqual([
      "context-single",
      "context-forecast-file",
    ]);
  });
});

describe("an agent's id", () => {
  it("is its explicit id, which two names can share over time", async () => {
    const { store } = await createDirectoryWithEarlierStore();
    for (const name of ["First name", "Second name"]) {
      const renamed = agent(
        { name, description: "Changes its name" },
        async function* () {
          yield name;
        },
        { id: "steady" },
      );
      const urls = await listen(renamed, { store });
      expect(Object.keys(urls)).toEqual(["steady"]);
      await ask(urls["steady"] ?? "", "Hello", "c");
      await close();
    }
    const urls = await listen(
      { steady: agent({ name: "x", description: "x" }, async function* () {}) },
      { store },
    );
    expect(await listContexts(urls["steady"] ?? "")).toContain("c");
  });
});
