import { afterEach, describe, expect, it } from "vitest";
import { collect, connect, readText, type A2AClient } from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import {
  ArtifactContentTracker,
  data,
  file,
  fromBase64,
  text,
  getText,
  type Task,
} from "../../protocol/index.ts";
import { createServer, type Server } from "../../server/index.ts";

/** A PNG image of one pixel, because some frameworks reject invalid images. */
const PIXEL_BASE64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** The same agents, written in the style of each framework. */
export interface SampleAgents {
  /** Creates an agent that answers with these chunks, in order. */
  createAnsweringAgent(chunks: readonly string[]): Agent;
  /** Creates the same agent with the option `artifacts: "pieces"`. Absent for adapters without the option. */
  createAnsweringAgentWithPieces?(chunks: readonly string[]): Agent;
  /** Creates an agent that emits "first ", waits for the gate, and emits "second". */
  createGateWaitingAgent(gate: Promise<void>): Agent;
  /** Creates an agent that fails with the error. */
  createFailingAgent(error: Error): Agent;
  /**
   * Creates an agent that emits "working" and works until its framework stops it. It then calls `stopped`.
   */
  createEndlessAgent(stopped: () => void): Agent;
  /** Creates an agent that answers with all user messages of the conversation, joined by " | ". */
  createRememberingAgent(): Agent;
  /** Creates an agent that describes its input: `text:look file:image/png:iVBO… data:{"n":1}`. */
  createEchoAgent(): Agent;
  /**
   * Creates an agent that asks "Which city?" and answers "Sunny in" plus the city. Absent if the framework
   * cannot ask.
   */
  createAskingAgent?(): Agent;
}

/** Describes the behavior of every adapter, with a real client over HTTP. */
export function defineAdapterContract(name: string, framework: SampleAgents): void {
  let server: Server | undefined;
  let seen: unknown[] = [];
  afterEach(() => server?.close({ graceMs: 0 }));

  async function connectToAgent(agent: Agent): Promise<A2AClient> {
    seen = [];
    const observer = { onError: ({ error }: { error: unknown }): void => void seen.push(error) };
    server = createServer(agent, { store: "memory", mergeChunks: false, observer });
    return connect((await server.listen()).url);
  }

  describe(`${name} as an agent`, () => {
    it("streams its answer in chunks and completes the task, which is stored completely", async () => {
      const remote = await connectToAgent(framework.createAnsweringAgent(["One ", "two ", "three."]));
      const chunks: string[] = [];
      const tracker = new ArtifactContentTracker();
      const events = remote.stream("count");
      const reported = async function* (): typeof events extends AsyncIterable<infer E>
        ? AsyncGenerator<E>
        : never {
        for await (const event of events) {
          if ("artifactUpdate" in event) chunks.push(getText(tracker.addUpdate(event.artifactUpdate).parts));
          yield event;
        }
      };
      const task = await requireTask(collect(reported()));
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      expect(chunks.filter((chunk) => chunk !== "")).toEqual(["One ", "two ", "three."]);
      expect(getArtifactTextWithoutReasoning(task)).toBe("One two three.");
      expect(await remote.tasks.get(task.id)).toEqual(task);
      expect(seen).toEqual([]);
    });

    const hasPieces = framework.createAnsweringAgentWithPieces !== undefined;
    it.skipIf(!hasPieces)("repeats no text with `artifacts: pieces`", async () => {
      const agent = framework.createAnsweringAgentWithPieces?.(["One ", "two ", "three."]) as Agent;
      const remote = await connectToAgent(agent);
      let text = "";
      let hasLastChunk = false;
      for await (const event of remote.stream("count")) {
        if (!("artifactUpdate" in event)) continue;
        text += getText(event.artifactUpdate.artifact.parts);
        hasLastChunk = event.artifactUpdate.lastChunk ?? false;
      }
      expect({ text, hasLastChunk }).toEqual({ text: "One two three.", hasLastChunk: true });
    });

    it("emits output while it is still working", async () => {
      const gate = Promise.withResolvers<void>();
      const remote = await connectToAgent(framework.createGateWaitingAgent(gate.promise));
      let output = "";
      for await (const text of readText(remote.stream("go"))) {
        output += text;
        if (output === "first ") gate.resolve();
      }
      expect(output).toBe("first second");
    });

    it("continues when its reader has left, and loses nothing", async () => {
      const gate = Promise.withResolvers<void>();
      const remote = await connectToAgent(framework.createGateWaitingAgent(gate.promise));
      let id = "";
      for await (const event of remote.stream("go")) {
        if ("task" in event) id = event.task.id;
        if ("artifactUpdate" in event) break;
      }
      gate.resolve();
      const task = await requireTask(
        collect(remote.tasks.subscribe(id)).catch(() => remote.tasks.get(id).then((task) => ({ task }))),
      );
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      expect(getArtifactTextWithoutReasoning(task)).toBe("first second");
    });

    it("hides the error from the caller and reports it to the observer", async () => {
      const cause = new Error("no route to 10.1.2.3");
      const remote = await connectToAgent(framework.createFailingAgent(cause));
      const task = await requireTask(remote.send("go"));
      expect(task.status.state).toBe("TASK_STATE_FAILED");
      expect(getText(task.status.message?.parts ?? [])).toMatch(/error id/);
      expect(JSON.stringify(task)).not.toContain("10.1.2.3");
      expect(seen.some((error) => formatErrorCauses(error).includes(cause.message))).toBe(true);
    });

    it("is stopped by a cancellation", async () => {
      const stopped = Promise.withResolvers<void>();
      const remote = await connectToAgent(framework.createEndlessAgent(() => stopped.resolve()));
      let state: string | undefined;
      for await (const event of remote.stream("go")) {
        if ("artifactUpdate" in event) {
          state = (await remote.tasks.cancel(event.artifactUpdate.taskId)).status.state;
        }
      }
      expect(state).toBe("TASK_STATE_CANCELED");
      await stopped.promise;
      expect(seen).toEqual([]);
    });

    it("remembers a conversation by its contextId, separately from others", async () => {
      const remote = await connectToAgent(framework.createRememberingAgent());
      const first = await requireTask(remote.send("red"));
      const second = await requireTask(remote.send("green", { contextId: first.contextId }));
      const other = await requireTask(remote.send("blue"));
      expect(second.id).not.toBe(first.id);
      expect([first, second, other].map(getArtifactTextWithoutReasoning)).toEqual([
        "red",
        "red | green",
        "blue",
      ]);
    });

    it("receives files and data", async () => {
      const remote = await connectToAgent(framework.createEchoAgent());
      const image = file(fromBase64(PIXEL_BASE64), { mediaType: "image/png" });
      const task = await requireTask(remote.send([text("look"), image, data({ n: 1 })]));
      expect(getArtifactTextWithoutReasoning(task)).toBe(
        `text:look file:image/png:${PIXEL_BASE64} data:{"n":1}`,
      );
    });

    it.skipIf(!framework.createAskingAgent)("asks a question and continues with the answer", async () => {
      const remote = await connectToAgent((framework.createAskingAgent as () => Agent)());
      const asked = await requireTask(remote.send("How is the weather?"));
      expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(getText(asked.status.message?.parts ?? [])).toBe("Which city?");
      const reported = await requireTask(remote.send("Seoul", { taskId: asked.id }));
      expect(reported.status.state).toBe("TASK_STATE_COMPLETED");
      expect(getArtifactTextWithoutReasoning(reported)).toBe("Sunny in Seoul");
    });
  });
}

export async function requireTask(answer: Promise<{ task: Task } | object>): Promise<Task> {
  const response = await answer;
  if (!("task" in response)) throw new Error("There is no task.");
  return response.task;
}

/** Returns the text of a task's artifacts, without reasoning. */
export function getArtifactTextWithoutReasoning({ artifacts = [] }: Task): string {
  return artifacts
    .flatMap(({ parts }) => parts.filter(({ metadata }) => metadata?.["thought"] !== true))
    .map((part) => getText([part]))
    .join("");
}

function formatErrorCauses(error: unknown): string {
  return error instanceof Error ? `${error.message} ${formatErrorCauses(error.cause)}` : "";
}
