import {
  BaseAgent,
  createEvent,
  createEventActions,
  type Event,
  InMemorySessionService,
  type InvocationContext,
} from "@google/adk";
import { describe, expect, it } from "vitest";
import { connect } from "../../../client/index.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import { adkAgent, type AdkAgentOptions } from "../adk-agent.ts";
import {
  TestAdkConversation,
  createTestPeerAgent,
  createTestRemoteAgent,
  serveAgentForTest,
} from "./test-adk-conversation.fixture.ts";

/** An agent that answers with its session state and then changes the state. */
class StateAgent extends BaseAgent {
  protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { city, color, secret } = context.session.state;
    const text = JSON.stringify({ city, color, secret });
    const stateDelta = { city: "Bonn", secret: "s3cret" };
    yield createEvent({
      author: this.name,
      invocationId: context.invocationId,
      content: { role: "model", parts: [{ text }] },
      actions: createEventActions({ stateDelta }),
    });
  }
  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {}
}

const serveStateAgent = (options: AdkAgentOptions): Promise<string> =>
  serveAgentForTest(adkAgent(new StateAgent({ name: "far" }), options));

async function ask(
  url: string,
  metadata?: JsonObject,
  contextId?: string,
): Promise<{ text: string; contextId: string }> {
  const reply = await (
    await connect(url)
  ).send("hi", { ...(metadata && { metadata }), ...(contextId && { contextId }) });
  if (!("task" in reply)) throw new Error("no task");
  const [part] = reply.task.artifacts?.at(-1)?.parts ?? [];
  return { text: part && "text" in part ? part.text : "", contextId: reply.task.contextId };
}

describe("the state of an ADK session", () => {
  it("starts with the initial state of the agent, once per session", async () => {
    let callCount = 0;
    const url = await serveStateAgent({
      initialState: (run) => ({ city: "Rome", color: run.caller.principal || "none", at: ++callCount }),
    });
    const first = await ask(url);
    expect(first.text).toBe('{"city":"Rome","color":"none"}');
    const second = await ask(url, undefined, first.contextId);
    expect(second.text).toBe('{"city":"Bonn","color":"none","secret":"s3cret"}');
    expect(callCount).toBe(1);
  });

  it("accepts only the keys that the agent lists from a caller", async () => {
    const metadata = { adk_actions: { stateDelta: { color: "red", secret: "stolen" } } };
    const url = await serveStateAgent({ receiveState: ["color"], initialState: { secret: "mine" } });
    expect((await ask(url, metadata)).text).toBe('{"color":"red","secret":"mine"}');
    expect((await ask(await serveStateAgent({}), metadata)).text).toBe("{}");
  });

  it("crosses to a peer and back, for the keys that both sides list", async () => {
    const url = await serveStateAgent({ receiveState: ["color", "secret"], sendState: ["city"] });
    const sessionService = new InMemorySessionService();
    await sessionService.createSession({
      appName: "app",
      userId: "u",
      sessionId: "s",
      state: { color: "blue", secret: "hidden", city: "Oslo" },
    });
    const remote = createTestRemoteAgent(url, { sendState: ["color"], receiveState: ["city", "secret"] });
    const events = await new TestAdkConversation(remote, { sessionService }).sendUserMessage("hi");
    expect(events.find(({ content, partial }) => content && !partial)?.content?.parts).toEqual([
      { text: '{"color":"blue"}' },
    ]);
    const session = await sessionService.getSession({ appName: "app", userId: "u", sessionId: "s" });
    expect(session?.state).toEqual({ color: "blue", secret: "hidden", city: "Bonn" });
  });

  // Measured: ADK for Python 2.13.0, `to_a2a`, with an event that changes the state.
  it("comes from a peer of ADK for Python, but only for listed keys", async () => {
    const peer = createTestPeerAgent(async function* () {
      const metadata = { adk_actions: { stateDelta: { color: "red", city: "Rome" } } };
      yield { artifact: { artifactId: "a", parts: [{ text: "ok" }], metadata }, lastChunk: true };
    });
    const sessionService = new InMemorySessionService();
    const remote = createTestRemoteAgent(await serveAgentForTest(peer), { receiveState: ["color"] });
    await new TestAdkConversation(remote, { sessionService }).sendUserMessage("hi");
    const session = await sessionService.getSession({ appName: "app", userId: "u", sessionId: "s" });
    expect(session?.state).toEqual({ color: "red" });
  });
});
