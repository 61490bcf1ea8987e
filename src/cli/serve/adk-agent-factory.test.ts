import { LlmAgent } from "@google/adk";
import { describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { ScriptedLlm } from "../../agents/adk/index.ts";
import { collect, connect } from "../../client/index.ts";
import { getText } from "../../protocol/index.ts";
import { createServer, type StoreOption } from "../../server/index.ts";
import { createTempTestDirectoryWithFiles } from "../cli-test-process.fixture.ts";
import { AdkAgentFactory } from "./adk-agent-factory.ts";

/** Creates an agent whose answer is the number of messages that its model receives. */
function createCounterAgent(): LlmAgent {
  const model = new ScriptedLlm(({ request }) => `${request.contents.length} before you`);
  return new LlmAgent({ name: "counter", description: "Counts", model });
}

const database = await findTestDatabase();
const STORES: Readonly<Record<string, () => Promise<string>>> = {
  SQLite: async () => `sqlite:${await createTempTestDirectoryWithFiles({})}/tasks.db`,
  ...(database.reason === undefined ? { PostgreSQL: async () => database.url } : {}),
};

describe.each(Object.entries(STORES))(
  "with %s, two ADK agents with the same name and context",
  (_, createStore) => {
    it("have separate conversations, which survive a restart of the server", async () => {
      const store = await createStore();
      expect(await countMessages(store)).toEqual(["1 before you", "3 before you", "1 before you"]);
      expect(await countMessages(store)).toEqual(["5 before you", "7 before you", "3 before you"]);
    });
  },
);

/** Serves two agents, sends two messages to the first agent and one to the second, and returns the answers. */
async function countMessages(storeUrl: string): Promise<string[]> {
  const adk = new AdkAgentFactory({});
  const agents = {
    one: await adk.createAgentFromAdk(createCounterAgent(), { id: "one" }),
    other: await adk.createAgentFromAdk(createCounterAgent(), { id: "other" }),
  };
  const server = createServer(agents, { store: storeUrl as StoreOption });
  const { agents: served } = await server.listen();
  const texts: string[] = [];
  for (const { url } of [served[0]!, served[0]!, served[1]!]) {
    const remote = await connect(url);
    const answer = await collect(remote.stream("Hello", { contextId: "shared" }));
    if ("task" in answer) texts.push(getText(answer.task.artifacts?.[0]?.parts ?? []));
  }
  await server.close();
  return texts;
}
