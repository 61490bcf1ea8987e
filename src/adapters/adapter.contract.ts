import { afterEach, describe, expect, it } from "vitest";
import { collect, connect, type Remote } from "../client/index.ts";
import type { Agent } from "../engine/index.ts";
import { data, file, text, textOf, type Task } from "../protocol/index.ts";
import { createServer, type Server } from "../server/index.ts";

/** The same few agents, written in the idiom of each framework. */
export interface Framework {
  /** Answers with these chunks, one after the other. */
  answering(chunks: readonly string[]): Agent;
  /** Says "first ", waits for the gate, and says "second". */
  pausing(gate: Promise<void>): Agent;
  /** Breaks with that error. */
  failing(error: Error): Agent;
  /** Says "working" and works on until its framework stops it, which it then tells. */
  endless(stopped: () => void): Agent;
  /** Answers with all that its user has said to it in this conversation, joined by " | ". */
  remembering(): Agent;
  /** Answers with what it was given: `text:look file:image/png:AQID data:{"n":1}`. */
  receiving(): Agent;
  /** Asks "Which city?" and answers "Sunny in " and what it is told. Absent: the framework can not ask. */
  asking?(): Agent;
}

/** What every adapter does, over real HTTP, with a real client. */
export function describeAdapter(name: string, framework: Framework): void {
  let server: Server | undefined;
  let seen: unknown[] = [];
  afterEach(() => server?.close({ graceMs: 0 }));

  async function remoteOf(agent: Agent): Promise<Remote> {
    seen = [];
    const observer = { onError: ({ error }: { error: unknown }): void => void seen.push(error) };
    server = createServer(agent, { store: "memory", merge: false, observer });
    return connect((await server.listen()).url);
  }

  describe(`${name} as an agent`, () => {
    it("streams its answer in chunks and completes the task, which is stored whole", async () => {
      const remote = await remoteOf(framework.answering(["One ", "two ", "three."]));
      const chunks: string[] = [];
      const events = remote.stream("count");
      const told = async function* (): typeof events extends AsyncIterable<infer E>
        ? AsyncGenerator<E>
        : never {
        for await (const event of events) {
          if ("artifactUpdate" in event) chunks.push(textOf(event.artifactUpdate.artifact.parts));
          yield event;
        }
      };
      const task = await taskOf(collect(told()));
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      expect(chunks.filter((chunk) => chunk !== "")).toEqual(["One ", "two ", "three."]);
      expect(answerIn(task)).toBe("One two three.");
      expect(await remote.task.get(task.id)).toEqual(task);
      expect(seen).toEqual([]);
    });

    it("is heard while it still thinks", async () => {
      const gate = Promise.withResolvers<void>();
      const remote = await remoteOf(framework.pausing(gate.promise));
      let said = "";
      for await (const event of remote.stream("go")) {
        if (!("artifactUpdate" in event)) continue;
        said += textOf(event.artifactUpdate.artifact.parts);
        if (said === "first ") gate.resolve();
      }
      expect(said).toBe("first second");
    });

    it("goes on when its reader has left, and nothing is lost", async () => {
      const gate = Promise.withResolvers<void>();
      const remote = await remoteOf(framework.pausing(gate.promise));
      let id = "";
      for await (const event of remote.stream("go")) {
        if ("task" in event) id = event.task.id;
        if ("artifactUpdate" in event) break;
      }
      gate.resolve();
      const task = await taskOf(
        collect(remote.task.subscribe(id)).catch(() => remote.task.get(id).then((task) => ({ task }))),
      );
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      expect(answerIn(task)).toBe("first second");
    });

    it("fails without telling callers why; whoever runs the server learns it", async () => {
      const cause = new Error("no route to 10.1.2.3");
      const remote = await remoteOf(framework.failing(cause));
      const task = await taskOf(remote.send("go"));
      expect(task.status.state).toBe("TASK_STATE_FAILED");
      expect(textOf(task.status.message?.parts ?? [])).toMatch(/error id/);
      expect(JSON.stringify(task)).not.toContain("10.1.2.3");
      expect(seen.some((error) => causes(error).includes(cause.message))).toBe(true);
    });

    it("is stopped by a cancellation", async () => {
      const stopped = Promise.withResolvers<void>();
      const remote = await remoteOf(framework.endless(() => stopped.resolve()));
      let state: string | undefined;
      for await (const event of remote.stream("go")) {
        if ("artifactUpdate" in event) {
          state = (await remote.task.cancel(event.artifactUpdate.taskId)).status.state;
        }
      }
      expect(state).toBe("TASK_STATE_CANCELED");
      await stopped.promise;
      expect(seen).toEqual([]);
    });

    it("remembers a conversation by its contextId, and mixes it up with no other", async () => {
      const remote = await remoteOf(framework.remembering());
      const first = await taskOf(remote.send("red"));
      const second = await taskOf(remote.send("green", { contextId: first.contextId }));
      const other = await taskOf(remote.send("blue"));
      expect(second.id).not.toBe(first.id);
      expect([first, second, other].map(answerIn)).toEqual(["red", "red | green", "blue"]);
    });

    it("is given files and data", async () => {
      const remote = await remoteOf(framework.receiving());
      const image = file(new Uint8Array([1, 2, 3]), { mediaType: "image/png" });
      const task = await taskOf(remote.send([text("look"), image, data({ n: 1 })]));
      expect(answerIn(task)).toBe('text:look file:image/png:AQID data:{"n":1}');
    });

    it.skipIf(!framework.asking)("asks, and goes on with the answer", async () => {
      const remote = await remoteOf((framework.asking as () => Agent)());
      const asked = await taskOf(remote.send("How is the weather?"));
      expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(textOf(asked.status.message?.parts ?? [])).toBe("Which city?");
      const told = await taskOf(remote.send("Seoul", { taskId: asked.id }));
      expect(told.status.state).toBe("TASK_STATE_COMPLETED");
      expect(answerIn(told)).toBe("Sunny in Seoul");
    });
  });
}

export async function taskOf(answer: Promise<{ task: Task } | object>): Promise<Task> {
  const response = await answer;
  if (!("task" in response)) throw new Error("There is no task.");
  return response.task;
}

/** All that a task's artifacts say, without what the agent only thought. */
export function answerIn({ artifacts = [] }: Task): string {
  return artifacts
    .flatMap(({ parts }) => parts.filter(({ metadata }) => metadata?.["thought"] !== true))
    .map((part) => textOf([part]))
    .join("");
}

function causes(error: unknown): string {
  return error instanceof Error ? `${error.message} ${causes(error.cause)}` : "";
}
