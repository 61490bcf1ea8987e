import { defineOptionNames, omitUndefined, pickOptions } from "../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, AgentEvent, Run } from "../../engine/index.ts";
import {
  A2AError,
  getText,
  isObject,
  type JsonObject,
  type Message,
  parseJsonOrUndefined,
} from "../../protocol/index.ts";
import { buildRunReport, getScoreOutcome, PLANNER, SOLVER } from "../index.ts";
import { createStatusUpdate } from "../roles/index.ts";
import { type Dataset, selectDatasetSamples } from "./read-dataset.ts";
import { type ExperimentOptions, type ExperimentOutcome, runExperiment } from "./run/index.ts";

/** Options of `createBenchmarkAgent`. */
export interface BenchmarkAgentOptions extends Pick<
  ExperimentOptions,
  "dataset" | "scorer" | "concurrency" | "deadlineMs" | "outputFolder" | "codeVersion"
> {
  /** Name of the A2A agent. Default: the name of the dataset and `-benchmark`. */
  readonly name?: string;
  readonly description?: string;
}

const assertKnownOptions = defineOptionNames<BenchmarkAgentOptions>()(
  "createBenchmarkAgent",
  "codeVersion concurrency dataset deadlineMs description name outputFolder scorer",
);

const MODES = ["text/plain", "application/json"];

/**
 * Creates an A2A agent that assesses other agents on a dataset, in the protocol of AgentBeats (a green agent). Its
 * message is the JSON object `{"participants": {"solver": URL}, "config": {}}`. The participant `solver` answers each
 * problem. With a second participant `planner`, the planner answers, and the record contains the message cards of
 * both. `config` can select problems with `count`, `offset`, and `ids`. The status reports the progress. The artifact
 * `Result` contains the scores as data, and `outputFolder` the record of the run. A problem without an answer counts
 * as wrong. After a restart, the agent continues the run and repeats no finished problem. The agent connects to the
 * URLs in the message, so serve it only to trusted callers.
 */
export function createBenchmarkAgent(options: BenchmarkAgentOptions): Agent {
  assertKnownOptions(options);
  const { dataset } = options;
  const {
    name = `${dataset.name}-benchmark`,
    description = `Assesses agents on the dataset ${dataset.name} (${dataset.split}).`,
  } = options;
  return {
    afterRestart: "resume",
    describe: (): AgentDescription => ({
      name,
      description,
      defaultInputModes: MODES,
      defaultOutputModes: MODES,
      skills: [{ id: "assess", name: "Assess", description, tags: ["benchmark", "green-agent"] }],
    }),
    async *execute(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
      let request: AssessmentRequest;
      try {
        request = decodeAssessmentRequest(run.message, dataset);
      } catch (error) {
        yield createStatusUpdate(
          "TASK_STATE_REJECTED",
          error instanceof Error ? error.message : String(error),
        );
        return;
      }
      yield createStatusUpdate("TASK_STATE_WORKING", `Assessing ${request.dataset.samples.length} problems.`);
      yield* assess(run, request, options);
    },
  };
}

interface AssessmentRequest {
  readonly participants: Readonly<Record<string, string>>;
  readonly dataset: Dataset;
}

/** Decodes an assessment request from the data or the text of a message. Throws if the request is invalid. */
function decodeAssessmentRequest({ parts }: Message, dataset: Dataset): AssessmentRequest {
  const [data = parseJsonOrUndefined(getText(parts))] = parts.flatMap((part) =>
    "data" in part ? [part.data] : [],
  );
  if (!isObject(data) || !isObject(data["participants"]))
    throw createRequestError('Send {"participants": {"solver": "https://…"}, "config": {}}');
  const { participants, config = {} } = data;
  for (const [role, url] of Object.entries(participants)) {
    if (role !== SOLVER && role !== PLANNER)
      throw createRequestError(`The role ${role} is unknown. Use ${SOLVER} and ${PLANNER}`);
    if (typeof url !== "string" || !/^https?:\/\//.test(url) || !URL.canParse(url))
      throw createRequestError(`The participant ${role} has no HTTP URL`);
  }
  if (participants[SOLVER] === undefined) throw createRequestError(`The participant ${SOLVER} is missing`);
  if (!isObject(config)) throw createRequestError("The config is not an object");
  return { participants: participants as Record<string, string>, dataset: selectSamples(dataset, config) };
}

function selectSamples(dataset: Dataset, { count, offset, ids, ...unknown }: JsonObject): Dataset {
  const [name] = Object.keys(unknown);
  if (name !== undefined)
    throw createRequestError(`The config has the unknown key ${name}. Use count, offset, and ids`);
  for (const [key, value, least] of [["count", count, 1] as const, ["offset", offset, 0] as const])
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least))
      throw createRequestError(`The ${key} of the config is not a valid number`);
  if (ids !== undefined && !(Array.isArray(ids) && ids.every((id) => typeof id === "string")))
    throw createRequestError("The ids of the config are not a list of texts");
  const selection = omitUndefined({ count, offset, ids });
  return selectDatasetSamples(dataset, selection as Parameters<typeof selectDatasetSamples>[1]);
}

async function* assess(
  run: Run,
  { participants, dataset }: AssessmentRequest,
  options: BenchmarkAgentOptions,
): AsyncGenerator<AgentEvent, void, undefined> {
  let progress = "";
  let changed = Promise.withResolvers<void>();
  const finished = runExperiment({
    ...pickOptions<BenchmarkAgentOptions>(options, "codeVersion concurrency deadlineMs outputFolder scorer"),
    dataset,
    method: participants[PLANNER] === undefined ? "direct" : "a2a",
    model: {},
    roleUrls: participants,
    runId: `assessment_${run.taskId}`,
    resume: true,
    onError: "wrong",
    signal: run.signal,
    onProgress({ done, total, correct }) {
      progress = `${done} of ${total} problems, ${correct} correct`;
      changed.resolve();
    },
  });
  const waitForChange = (): Promise<ExperimentOutcome | undefined> =>
    Promise.race([changed.promise.then(() => undefined), finished]);
  let outcome = await waitForChange();
  for (; outcome === undefined; outcome = await waitForChange()) {
    changed = Promise.withResolvers();
    yield createStatusUpdate("TASK_STATE_WORKING", progress);
  }
  run.signal.throwIfAborted();
  if (outcome.status !== "completed")
    throw new A2AError("INTERNAL", outcome.failureReason ?? "The run ended early.");
  yield { artifact: createResultArtifact(outcome) };
  yield { status: { state: "TASK_STATE_COMPLETED" } };
}

function createResultArtifact({
  recording,
  runId,
}: ExperimentOutcome): Extract<AgentEvent, { artifact: unknown }>["artifact"] {
  const { accuracy, samples } = buildRunReport(recording);
  const { scores } = recording;
  const correct = scores.filter((score) => score.correct).length;
  const data: JsonObject = {
    run_id: runId,
    samples: scores.length,
    correct,
    accuracy: accuracy?.value ?? 0,
    interval_95: accuracy ? [accuracy.low, accuracy.high] : [0, 1],
    outcomes: { ...samples.outcomes },
    results: scores.map((score) => ({
      id: score.sample_id,
      correct: score.correct,
      outcome: getScoreOutcome(score),
      ...omitUndefined({ predicted: score.predicted, measures: score.measures && { ...score.measures } }),
    })),
  };
  const text = `${correct} of ${scores.length} problems are correct.`;
  return { artifactId: "result", name: "Result", parts: [{ text }, { data }] };
}

function createRequestError(problem: string): RangeError {
  return new RangeError(`The assessment request is invalid. ${problem}.`);
}
