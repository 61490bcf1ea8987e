import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildComparisonReport, buildRunReport } from "../../index.ts";
import {
  answerLikeAnyRole,
  type FakeModelRequest,
  type FakeModelResponse,
  type FakeModelServer,
  startFakeModelServer,
} from "../../roles/models/fake-model-server.fixture.ts";
import { createOpenAiCompatibleModel } from "../../roles/index.ts";
import { readDataset, selectDatasetSamples } from "../read-dataset.ts";
import { type ExperimentOptions, type ExperimentOutcome, runExperiment } from "./index.ts";

const dataset = selectDatasetSamples(readDataset("gsm8k"), { count: 4 });
/** A word of the problem gsm8k_1, which is in every prompt about the problem. */
const isSecondProblem = ({ prompt }: FakeModelRequest): boolean => prompt.includes("bolts of blue fiber");

interface TestExperiment {
  readonly server: FakeModelServer;
  readonly run: (options?: Partial<ExperimentOptions>) => Promise<ExperimentOutcome>;
}

async function startExperiment(
  respond: (request: FakeModelRequest) => FakeModelResponse | undefined | Promise<undefined>,
): Promise<TestExperiment> {
  const server = await startFakeModelServer(
    async (request) => (await respond(request)) ?? answerLikeAnyRole(request),
  );
  const outputFolder = mkdtempSync(join(tmpdir(), "colloquy-errors-"));
  const model = createOpenAiCompatibleModel({ baseUrl: server.baseUrl, model: "fake" });
  return {
    server,
    run: (options) => runExperiment({ dataset, model, outputFolder, runId: "run", ...options }),
  };
}

const now = { "retry-after-ms": "0" };

describe("a model server that fails for a while", () => {
  it("costs no problem, and every failed try is on a card and in the report", async () => {
    const { run, server } = await startExperiment(({ attempt, action }) =>
      action === "call_solver" && attempt < 3
        ? { status: attempt === 1 ? 429 : 500, error: "overloaded", headers: now }
        : undefined,
    );
    const { status, recording, failedSamples } = await run();
    expect({ status, failedSamples }).toEqual({ status: "completed", failedSamples: [] });
    const tries = recording.cards.flatMap((card) => card.metadata.failed_tries ?? []);
    expect(tries.map(({ http_status, wait_ms }) => `${http_status}, ${wait_ms} ms`).toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => "429, 0 ms"),
      ...Array.from({ length: 4 }, () => "500, 0 ms"),
    ]);
    const report = buildRunReport(recording);
    expect(report).toMatchObject({ found: {}, broken: [] });
    // A rejected request has no tokens. Each problem has three answered requests with 15 tokens.
    expect(report.tokens).toMatchObject({ total: 4 * 45, unknownCards: 0 });
    expect(server.requests).toHaveLength(4 * 5);
  });

  it("stops the run after some problems in a row, and a resumed run solves them", async () => {
    let isDown = true;
    const { run } = await startExperiment(() =>
      isDown ? { status: 503, error: "down", headers: now } : undefined,
    );
    // Even with `wrong`, an outage is not an answer.
    const down = await run({ onError: "wrong", maxConsecutiveFailures: 2, concurrency: 1 });
    expect(down).toMatchObject({ status: "failed", recording: { scores: [] } });
    expect(down.failureReason).toContain("answered 503: down");
    isDown = false;
    expect(await run({ resume: true })).toMatchObject({ status: "completed", failedSamples: [] });
  });
});

describe("a model server that rejects one problem", () => {
  const reject = (request: FakeModelRequest): FakeModelResponse | undefined =>
    isSecondProblem(request) ? { status: 400, error: "content filter" } : undefined;

  it("makes the run fail by default, and names the problem", async () => {
    const { run, server } = await startExperiment(reject);
    const { status, failedSamples, recording, specificationFile } = await run();
    expect(failedSamples).toEqual([
      {
        sampleId: "gsm8k_1",
        error: expect.stringContaining("answered 400: content filter") as string,
        recordedAs: undefined,
      },
    ]);
    expect([status, recording.scores.length, specificationFile]).toEqual(["failed", 3, undefined]);
    expect(server.requests.filter(isSecondProblem)).toHaveLength(1);
  });

  it.each([
    ["wrong", { samples: { done: 4, failed: 1, skipped: 0 } }, 4],
    ["skip", { samples: { done: 3, failed: 0, skipped: 1 } }, 3],
  ] as const)(
    "ends a resumed run with --on-error %s, which can be compared",
    async (onError, report, compared) => {
      const { run, server } = await startExperiment(reject);
      expect((await run()).status).toBe("failed");
      const { status, recording } = await run({ resume: true, onError });
      expect(status).toBe("completed");
      expect(buildRunReport(recording)).toMatchObject({ ...report, broken: [] });
      const again = await run({ resume: true, onError });
      expect(again).toMatchObject({ status: "completed", failedSamples: [] });
      expect(server.requests.filter(isSecondProblem)).toHaveLength(2);
      const other = await startExperiment(() => undefined);
      const { recording: complete } = await other.run({ runId: "other" });
      expect(buildComparisonReport([complete, recording])).toMatchObject({
        samples: compared,
        skipped: 4 - compared,
        rows: [{}, { outcomes: { answered: 3, ...(onError === "wrong" && { model_error: 1 }) } }],
      });
    },
  );
});

describe("a model server that rejects every request", () => {
  it.each([
    [401, "To do: set a valid API key for the model."],
    [404, "To do: correct the name of the model or the base URL of its server."],
  ])("with status %i stops the run at once, and says what to do", async (status, remedy) => {
    const { run, server } = await startExperiment(() => ({ status, error: "no" }));
    const outcome = await run({ concurrency: 1, onError: "wrong" });
    expect(outcome).toMatchObject({ status: "failed", recording: { scores: [] } });
    expect(outcome.failureReason).toContain(remedy);
    expect(server.requests).toHaveLength(1);
  });

  it("only for solvers stops the run, too", async () => {
    const { run } = await startExperiment(({ action }) =>
      action === undefined ? { status: 401, error: "no" } : undefined,
    );
    expect(await run({ concurrency: 1 })).toMatchObject({ status: "failed", recording: { scores: [] } });
  });
});

describe("replies without an answer", () => {
  it.each([
    [{ refusal: "I will not." }, "it stopped with filter"],
    [{ text: "", finish: "content_filter" }, "it stopped with filter"],
    [{ text: "", finish: "length" }, "it stopped with length"],
  ])("such as %j are wrong answers, with their reason on a card", async (response, reason) => {
    const { run } = await startExperiment((request) => (isSecondProblem(request) ? response : undefined));
    const { status, recording } = await run({ method: "cot" });
    expect(status).toBe("completed");
    expect(recording.scores.find(({ sample_id }) => sample_id === "gsm8k_1")).toMatchObject({
      correct: false,
    });
    expect(recording.cards.map(({ content }) => content)).toContainEqual(expect.stringContaining(reason));
  });

  it("of a planner are failed tries with their text, and then an error", async () => {
    const { run } = await startExperiment((request) =>
      isSecondProblem(request) ? { text: '{"action":', finish: "length" } : undefined,
    );
    const { status, recording } = await run();
    expect(status).toBe("completed");
    const error = recording.cards.find(({ metadata }) => metadata["error_type"] === "truncated");
    expect(error?.metadata.failed_tries).toMatchObject([{ text: '{"action":' }, { text: '{"action":' }]);
    expect(error?.content).toContain("stopped with length");
  });

  it("without token counts are a lower bound with a count", async () => {
    const { run } = await startExperiment((request) =>
      isSecondProblem(request) ? { text: "Answer: 3", usage: "none" } : undefined,
    );
    const { recording } = await run({ method: "cot" });
    expect(buildRunReport(recording).tokens).toMatchObject({ total: 45, unknownCards: 1 });
    expect(buildComparisonReport([recording]).rows).toMatchObject([{ totalTokens: 45 / 4, unknownCards: 1 }]);
  });
});

describe("the concurrency of a run", () => {
  it.each([
    ["cot-sc@20", 4],
    ["cot-sc@3", 4],
    ["a2a", 2],
  ])("limits the requests in flight of %s to %i", async (method, concurrency) => {
    // The first answer is held back until as many requests as possible are in flight.
    const isFull = Promise.withResolvers<void>();
    let arrived = 0;
    const { run, server } = await startExperiment(async () => {
      arrived += 1;
      if (arrived === concurrency) isFull.resolve();
      await isFull.promise;
      return undefined;
    });
    expect((await run({ method, concurrency })).status).toBe("completed");
    expect(server.maxRequestsInFlight).toBe(concurrency);
  });
});
