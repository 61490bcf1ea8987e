import { LlmAgent } from "@google/adk";
import { expect, it } from "vitest";
import { ScriptedLlm } from "../../adk/index.ts";
import { collect, connect } from "../../client/index.ts";
import { textOf } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { directoryWith } from "../process.contract.ts";
import { AdkAgents } from "./adk.ts";

/** Says how much of a conversation its model is shown. */
function counter(): LlmAgent {
  const model = new ScriptedLlm(({ request }) => `${request.contents.length} before you`);
  return new LlmAgent({ name: "counter", description: "Counts", model });
}

it("two ADK agents of one name that share a store and a context do not share a conversation", async () => {
  const store = `sqlite:${await directoryWith({})}/tasks.db` as const;
  const adk = new AdkAgents(store, {});
  const agents = { one: await adk.add("one", counter()), other: await adk.add("other", counter()) };
  const server = createServer(agents, { store });
  const { agents: served } = await server.listen();
  const said: string[] = [];
  for (const { url } of [served[0]!, served[0]!, served[1]!]) {
    const remote = await connect(url);
    const answer = await collect(remote.stream("Hello", { contextId: "shared" }));
    if ("task" in answer) said.push(textOf(answer.task.artifacts?.[0]?.parts ?? []));
  }
  await server.close();
  adk.close();
  expect(said).toEqual(["1 before you", "3 before you", "1 before you"]);
});
