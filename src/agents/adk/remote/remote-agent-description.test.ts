import { AgentTool, LlmAgent } from "@google/adk";
import { describe, expect, it } from "vitest";
import { connect } from "../../../client/index.ts";
import type { Agent } from "../../../engine/index.ts";
import { ScriptedLlm } from "../models/index.ts";
import {
  TestAdkConversation,
  createTestRemoteAgent,
  serveAgentForTest,
} from "./test-adk-conversation.fixture.ts";
import { RemoteAgent } from "./remote-agent.ts";

const createFarAgent = (name: string, description: string): Agent => ({
  describe: () => ({ name, description, capabilities: { streaming: true } }),
  async *execute() {
    yield { artifact: { artifactId: "a", parts: [{ text: "Sunny." }] } };
  },
});

/** Returns an agent that transfers on request, and the requests that its model received. */
function createTransferringAgent(subAgent: RemoteAgent): { agent: LlmAgent; requests: string[] } {
  const requests: string[] = [];
  const model = new ScriptedLlm(({ text, request }) => {
    requests.push(JSON.stringify(request.config?.systemInstruction));
    return text === "hi" ? "Hello." : { call: "transfer_to_agent", args: { agentName: subAgent.name } };
  });
  return { agent: new LlmAgent({ name: "boss", model, subAgents: [subAgent] }), requests };
}

describe("the description of a remote agent", () => {
  it("comes from the card, for models that may transfer to the agent or call it", async () => {
    const url = await serveAgentForTest(createFarAgent("Weather (world)", "Knows the\nweather."));
    const weather = await RemoteAgent.connect(url);
    expect([weather.name, weather.description]).toEqual(["Weather_world_", "Knows the weather."]);
    expect(new AgentTool({ agent: weather }).description).toBe("Knows the weather.");
    const { agent, requests } = createTransferringAgent(weather);
    await new TestAdkConversation(agent).sendUserMessage("hi");
    expect(requests[0]).toContain("Agent name: Weather_world_\\nAgent description: Knows the weather.");
  });

  it("comes from the options if they define one", async () => {
    const url = await serveAgentForTest(createFarAgent("weather", "Knows the weather."));
    const named = await RemoteAgent.connect(url, { name: "sky", description: "Looks up." });
    expect([named.name, named.description]).toEqual(["sky", "Looks up."]);
    await new TestAdkConversation(named).sendUserMessage("hi");
    expect(named.description).toBe("Looks up.");
  });

  it("is set in the first run if the agent was created by URL", async () => {
    const unnamed = createTestRemoteAgent(
      await serveAgentForTest(createFarAgent("weather", "Knows the weather.")),
      {
        description: "",
      },
    );
    expect(unnamed.description).toBe("");
    const { agent, requests } = createTransferringAgent(unnamed);
    const conversation = new TestAdkConversation(agent);
    await conversation.sendUserMessage("weather?");
    expect(unnamed.description).toBe("Knows the weather.");
    await conversation.sendUserMessage("hi");
    expect(requests.at(-1)).toContain("Agent description: Knows the weather.");
  });

  it("is set immediately if the agent was created from a connection", async () => {
    const url = await serveAgentForTest(createFarAgent("weather", "Knows the weather."));
    expect(createTestRemoteAgent(await connect(url), { description: "" }).description).toBe(
      "Knows the weather.",
    );
  });

  it("is one line of bounded length, and the name is valid in ADK", async () => {
    const long = await RemoteAgent.connect(
      await serveAgentForTest(createFarAgent("2 über-agents 🦉", `x${"🦉".repeat(5_000)}`)),
    );
    expect(long.name).toBe("_2_über-agents_");
    expect(long.description).toBe(`x${"🦉".repeat(499)}`);
    expect((await RemoteAgent.connect(await serveAgentForTest(createFarAgent("user", "u")))).name).toBe(
      "user_",
    );
  });

  it("cannot be fetched from an unreachable agent, which is an error", async () => {
    const nowhere = RemoteAgent.connect("http://127.0.0.1:1", { connect: { retry: { maxRetries: 0 } } });
    await expect(nowhere).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  });
});
