import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import { type A2AClient, collect, connect } from "../../client/index.ts";
import { getText, type JsonObject, type Task } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { readDataset, selectDatasetSamples } from "./read-dataset.ts";
import { createBenchmarkAgent } from "./benchmark-agent.ts";

const DATASET = selectDatasetSamples(readDataset("gsm8k"), { count: 4 });
const GOLDS = new Map(DATASET.samples.map(({ question, gold }) => [question, gold]));

async function serve(served: Parameters<typeof createServer>[0]): Promise<string> {
  const server = createServer(served, { store: "memory", observer: false });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return (await server.listen()).url;
}

/** Serves an agent that knows all answers except the first. */
function serveParticipant(): Promise<string> {
  const [first] = DATASET.samples;
  return serve(
    agent({ name: "solver", description: "Answers" }, async function* ({ text }) {
      yield text.includes(first?.question ?? "")
        ? "Answer: 0"
        : `Answer: ${[...GOLDS].find(([question]) => text.includes(question))?.[1]}`;
    }),
  );
}

async function connectToBenchmark(): Promise<A2AClient> {
  const outputFolder = mkdtempSync(join(tmpdir(), "colloquy-benchmark-"));
  onTestFinished(() => rmSync(outputFolder, { recursive: true, force: true }));
  return connect(await serve(createBenchmarkAgent({ dataset: DATASET, outputFolder })));
}

const getTask = (answer: object): Task => (answer as { task: Task }).task;

describe("an agent with a benchmark", () => {
  it("assesses a participant, and returns progress and the scores as data", async () => {
    const client = await connectToBenchmark();
    const request = { participants: { solver: await serveParticipant() }, config: { offset: 0, count: 3 } };
    const task = getTask(await collect(client.stream(JSON.stringify(request))));
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    const texts = task.history?.map(({ parts }) => getText(parts)) ?? [];
    expect(texts).toContain("Assessing 3 problems.");
    const [result] = task.artifacts ?? [];
    expect(result).toMatchObject({
      name: "Result",
      parts: [
        { text: "2 of 3 problems are correct." },
        {
          data: {
            run_id: `assessment_${task.id}`,
            samples: 3,
            correct: 2,
            accuracy: 2 / 3,
            outcomes: { answered: 3 },
          },
        },
      ],
    });
    const data = result?.parts.flatMap((part) => ("data" in part ? [part.data] : []))[0] as JsonObject;
    expect(data["results"]).toEqual(
      DATASET.samples
        .slice(0, 3)
        .map(
          ({ id, gold }, index) =>
            expect.objectContaining({ id, correct: index > 0, predicted: index > 0 ? gold : "0" }) as unknown,
        ),
    );
  });

  it("counts the problems of a participant that fails as wrong", async () => {
    const failing = await serve(
      agent({ name: "solver", description: "Fails" }, async function* () {
        yield* [];
        throw new Error("broken");
      }),
    );
    const client = await connectToBenchmark();
    const request = { participants: { solver: failing }, config: { ids: ["gsm8k_1"] } };
    const task = getTask(await client.send({ parts: [{ data: request }] }));
    expect(task.artifacts?.[0]?.parts[1]).toMatchObject({ data: { samples: 1, correct: 0 } });
  });

  it.each([
    ["Hello", "Send {"],
    ["{}", "Send {"],
    ['{"participants":{}}', "The participant solver is missing"],
    ['{"participants":{"solver":"ftp://x"}}', "The participant solver has no HTTP URL"],
    ['{"participants":{"judge":"http://127.0.0.1:1"}}', "The role judge is unknown"],
    ['{"participants":{"solver":"http://127.0.0.1:1"},"config":{"topic":1}}', "the unknown key topic"],
    ['{"participants":{"solver":"http://127.0.0.1:1"},"config":{"count":0}}', "The count of the config"],
    ['{"participants":{"solver":"http://127.0.0.1:1"},"config":{"ids":["x"]}}', "has no problem x"],
    ['{"participants":{"solver":"http://127.0.0.1:1"},"config":[]}', "The config is not an object"],
  ])("rejects the request %s", async (text, problem) => {
    const client = await connectToBenchmark();
    const { status } = getTask(await client.send(text));
    expect(status.state).toBe("TASK_STATE_REJECTED");
    expect(getText(status.message?.parts ?? [])).toContain(problem);
  });
});
