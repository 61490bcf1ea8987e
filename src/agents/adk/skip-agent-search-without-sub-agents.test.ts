import { InMemorySessionService, LlmAgent, LogLevel, Runner, setLogLevel } from "@google/adk";
import { describe, expect, it } from "vitest";
import { ScriptedLlm } from "./models/index.ts";
import { skipAgentSearchWithoutSubAgents } from "./skip-agent-search-without-sub-agents.ts";

setLogLevel(LogLevel.ERROR);

/** A text part that counts how often ADK serializes it. */
class CountingPart {
  readonly text = "hello";
  serializedCount = 0;

  toJSON(): object {
    this.serializedCount++;
    return { text: this.text };
  }
}

async function listAuthors(
  runner: Runner,
  part: object = { text: "hello" },
): Promise<(string | undefined)[]> {
  const newMessage = { role: "user", parts: [part] };
  const authors: (string | undefined)[] = [];
  for await (const { author } of runner.runAsync({ userId: "u", sessionId: "s", newMessage }))
    authors.push(author);
  return authors;
}

async function createRunner(agent: LlmAgent): Promise<Runner> {
  const sessionService = new InMemorySessionService();
  await sessionService.createSession({ appName: "app", userId: "u", sessionId: "s" });
  return new Runner({ agent, appName: "app", sessionService });
}

describe("a runner that skips the search for the agent of a session", () => {
  it("does not serialize the message of an agent without sub-agents", async () => {
    const agent = new LlmAgent({ name: "single", model: new ScriptedLlm(["hi"]) });
    const runner = await createRunner(agent);
    const before = new CountingPart();
    await listAuthors(runner, before);
    skipAgentSearchWithoutSubAgents(runner);
    const after = new CountingPart();
    expect(await listAuthors(runner, after)).toEqual(["single"]);
    expect(after.serializedCount).toBeLessThan(before.serializedCount);
  });

  it("continues with the sub-agent that spoke last", async () => {
    const clerk = new LlmAgent({ name: "clerk", model: new ScriptedLlm(["at your service"]) });
    const boss = new LlmAgent({
      name: "boss",
      model: new ScriptedLlm([{ call: "transfer_to_agent", args: { agentName: "clerk" } }]),
      subAgents: [clerk],
    });
    const runner = await createRunner(boss);
    skipAgentSearchWithoutSubAgents(runner);
    expect((await listAuthors(runner)).at(-1)).toBe("clerk");
    expect(await listAuthors(runner)).toEqual(["clerk"]);
  });
});
