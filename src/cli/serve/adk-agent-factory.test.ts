import { LlmAgent } from "@google/adk";
import { expect, it } from "vitest";
import { ScriptedLlm } from "../../adk/index.ts";
import { collect, connect } from "../../client/index.ts";
import { getText } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { createTempTestDirectoryWithFiles } from "../cli-test-process.fixture.ts";
import { AdkAgentFactory } from "./adk-agent-factory.ts";

/** Creates an agent whose answer is the number of messages that its model receives. */
function createCounterAgent(): LlmAgent {
  const model = new ScriptedLlm(({ request }) => `${request.contents.length} before you`);
  return new LlmAgent({ name: "counter", description: "Counts", model });
}

it("two ADK agents with the same name, store, and context have separate conversations", async () => {
  const store = `sqlite:${await createTempTestDirectoryWithFiles({})}/tasks.db` as const;
  const adk = new AdkAgentFactory(store, {});
  const agents = {
    one: await adk.createAgentFromAdk(createCounterAgent(), { id: "one" }),
    other: await adk.createAgentFromAdk(createCounterAgent(), { id: "other" }),
  };
  const server = createServer(agents, { store });
  const { agents: served } = await server.listen();
  const texts: string[] = [];
  for (const { url } of [served[0]!, served[0]!, served[1]!]) {
    const remote = await connect(url);
    const answer = await collect(remote.stream("Hello", { contextId: "shared" }));
    if ("task" in answer) texts.push(getText(answer.task.artifacts?.[0]?.parts ?? []));
  }
  await server.close();
  adk.close();
  expect(texts).toEqual(["1 before you", "3 before you", "1 before you"]);
});
