import {
  BaseAgent,
  Context,
  createEvent,
  type Event,
  InMemoryArtifactService,
  type InvocationContext,
} from "@google/adk";
import { describe, expect, it } from "vitest";
import { connect } from "../../../client/index.ts";
import type { Artifact, Part } from "../../../protocol/index.ts";
import { adkAgent } from "../adk-agent.ts";
import {
  TestAdkConversation,
  createTestPeerAgent,
  createTestRemoteAgent,
  serveAgentForTest,
} from "./test-adk-conversation.fixture.ts";

const png = { inlineData: { data: "iVBORw0KGgo=", mimeType: "image/png" } };

/** An agent that saves a chart twice and says so. */
class ChartAgent extends BaseAgent {
  protected override async *runAsyncImpl(
    invocationContext: InvocationContext,
  ): AsyncGenerator<Event, void, void> {
    const event = createEvent({ author: this.name, invocationId: invocationContext.invocationId });
    const context = new Context({ invocationContext, eventActions: event.actions });
    await context.saveArtifact("chart.png", png);
    yield { ...event, content: { role: "model", parts: [{ text: "Saved." }] } };
  }
  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {}
}

const serveChartAgent = (capabilities?: object): Promise<string> => {
  const agent = adkAgent(new ChartAgent({ name: "far" }));
  const describeAgent = {
    ...agent,
    describe: async () => ({ ...(await agent.describe()), capabilities: capabilities ?? {} }),
  };
  return serveAgentForTest(capabilities ? describeAgent : agent);
};

const file = { appName: "app", userId: "u", sessionId: "s", filename: "chart.png" };

describe("a file that an ADK agent saves", () => {
  it("is an A2A artifact with the name and the content of the file", async () => {
    const reply = await (await connect(await serveChartAgent())).send("draw");
    const artifacts: readonly Artifact[] = ("task" in reply && reply.task.artifacts) || [];
    expect(artifacts).toMatchObject([
      { parts: [{ text: "Saved." }] },
      {
        artifactId: "chart.png_0",
        name: "chart.png",
        parts: [{ raw: png.inlineData.data, mediaType: "image/png", filename: "chart.png" }],
        metadata: { adk_author: "far" },
      },
    ]);
  });

  it.each([
    ["streamed", undefined],
    ["in one response", {}],
  ])("is saved in the artifact service of the caller: %s", async (_, capabilities) => {
    const artifactService = new InMemoryArtifactService();
    const remote = createTestRemoteAgent(await serveChartAgent(capabilities));
    const conversation = new TestAdkConversation(remote, { artifactService });
    for (const version of [0, 1]) {
      const events = await conversation.sendUserMessage("draw");
      expect(events.map(({ actions }) => actions.artifactDelta)).toContainEqual({ "chart.png": version });
      expect(JSON.stringify(events.map(({ content }) => content))).not.toContain(png.inlineData.data);
    }
    expect(await artifactService.loadArtifact(file)).toEqual(png);
    expect(await artifactService.listVersions(file)).toEqual([0, 1]);
  });

  it("stays content of an event if the caller has no artifact service", async () => {
    const remote = createTestRemoteAgent(await serveChartAgent());
    const events = await new TestAdkConversation(remote).sendUserMessage("draw");
    expect(events.flatMap(({ content, partial }) => (partial ? [] : (content?.parts ?? [])))).toContainEqual({
      inlineData: { ...png.inlineData, displayName: "chart.png" },
    });
  });

  // Ids as in `include_artifacts_in_a2a_event_interceptor` of ADK for Python 2.13.0.
  it.each([
    ["notes.txt_0", "notes.txt", "notes.txt"],
    ["user:notes.txt_3", "user:notes.txt", "notes.txt"],
    ["../notes.txt_0", "../notes.txt", undefined],
    ["/etc/notes.txt_0", "/etc/notes.txt", undefined],
    ["notes.txt", "notes.txt", undefined],
    ["a", "notes.txt", undefined],
  ])(
    "of any peer is saved under a safe name only: artifact %s, name %s",
    async (artifactId, name, savedAs) => {
      const parts: Part[] = [{ text: "note" }];
      const url = await serveAgentForTest(
        createTestPeerAgent(async function* () {
          yield { artifact: { artifactId, name, parts }, lastChunk: true };
        }),
      );
      const artifactService = new InMemoryArtifactService();
      await new TestAdkConversation(createTestRemoteAgent(url), { artifactService }).sendUserMessage("go");
      expect(await artifactService.listArtifactKeys(file)).toEqual(savedAs === undefined ? [] : [savedAs]);
    },
  );
});
