import {
  A2AError,
  type AgentCard,
  deriveAgentId,
  fold,
  isEventRefusal,
  isObject,
  type JsonObject,
  type StreamResponse,
  type Task,
} from "../../protocol/index.ts";
import {
  decodeTrafficLine,
  type ModelPrices,
  priceTrafficLine,
  type TrafficAgent,
  type TrafficLine,
  type TrafficModel,
} from "../../observe/trace/index.ts";
import { readTrafficFile } from "../../observe/trace/recording/index.ts";
import type { AgentSource, TaskListing } from "./agent-source.ts";
import type { ConsoleAgent } from "../console-api/index.ts";
import type { CardVerifier } from "../../client/index.ts";
import { createCardReport } from "./card-report.ts";
import { describeCard, describeUnknownCard } from "./describe-card.ts";
import { LineJournal } from "./line-journal.ts";
import { createJournalModelReader, createObservedTaskListing } from "./observed-tasks.ts";
import * as v1 from "../../wire/v1/index.ts";

/** Maximum length of the lines of all record files, in characters. */
const MAX_RECORD_LENGTH = 512 * 2 ** 20;

/** The agents and tasks of record files. */
export interface RecordedAgents {
  readonly sources: readonly AgentSource[];
  readonly listings: readonly TaskListing[];
  /** All lines of the files. */
  readonly journal: LineJournal;
}

interface RecordReadingOptions {
  /** Prices of language models, which the console adds to the model calls. */
  readonly prices?: ModelPrices | undefined;
  readonly verifyWithTrustedKeys?: CardVerifier | undefined;
}

/**
 * Reads record files into memory. Throws if the files are larger than 512 MiB
 * together.
 */
export async function loadRecordedAgents(
  files: readonly string[],
  { prices, verifyWithTrustedKeys }: RecordReadingOptions = {},
): Promise<RecordedAgents> {
  const journal = new LineJournal(Infinity);
  let length = 0;
  for (const file of files) {
    for await (const decoded of readTrafficFile(file)) {
      if (decoded.type !== "traffic") continue;
      const text = JSON.stringify(prices ? priceTrafficLine(decoded.line, prices) : decoded.line);
      length += text.length;
      if (length > MAX_RECORD_LENGTH)
        throw new A2AError(
          "PAYLOAD_TOO_LARGE",
          `${file} makes the records larger than 512 MiB; open fewer files.`,
        );
      journal.append(text);
    }
  }
  const readModel = createJournalModelReader(journal);
  const agents = [...readModel().agents.values()].map((agent) =>
    createRecordedAgent(agent, journal, readModel, verifyWithTrustedKeys),
  );
  return {
    sources: agents.map(({ source }) => source),
    listings: agents.map(({ listing }) => listing),
    journal,
  };
}

function createRecordedAgent(
  agent: TrafficAgent,
  journal: LineJournal,
  readModel: () => TrafficModel,
  verifyWithTrustedKeys: CardVerifier | undefined,
): { source: AgentSource; listing: TaskListing } {
  const { name, url = "", card: json } = agent;
  const id = deriveAgentId(name);
  const card = json && findReadableCard(json);
  const description: ConsoleAgent = {
    ...(card ? describeCard(card, undefined, false) : describeUnknownCard(url)),
    id,
    name,
    ...(url === "" ? {} : { url }),
    status: "connected",
    isOwn: false,
    isRecorded: true,
    credentials: [],
  };
  const refuse = async (): Promise<never> => {
    throw new A2AError(
      "UNSUPPORTED_OPERATION",
      `${name} is part of a record, and accepts no requests; start colloquy console with the URL of an agent.`,
    );
  };
  // oxlint-disable-next-line require-yield -- the generator only rejects
  const refuseStream = async function* (): AsyncGenerator<never> {
    await refuse();
  };
  const source: AgentSource = {
    id,
    describe: async () => description,
    reportCard: async () => {
      if (card)
        return await createCardReport({ card, json, cardUrl: url }, readModel(), { verifyWithTrustedKeys });
      throw new A2AError("NOT_FOUND", `The record contains no card of ${name} that can be read.`);
    },
    readTask: async (taskId) => {
      const task = foldRecordedTask(taskId, journal);
      if (task) return task;
      throw new A2AError(
        "TASK_NOT_FOUND",
        `The record contains no events of the task ${taskId.slice(0, 100)}.`,
      );
    },
    async *readTaskLines(taskId) {
      for (const { text } of journal.listTaskLines(taskId)) yield text;
    },
    sendMessage: refuseStream,
    subscribe: refuseStream,
    cancelTask: refuse,
    registerWebhook: refuse,
  };
  return { source, listing: createObservedTaskListing(id, readModel, (task) => task.agent === name) };
}

/** Returns the card, or `undefined` if it is invalid: a tap records cards as they were served. */
function findReadableCard(json: JsonObject): AgentCard | undefined {
  try {
    return v1.decodeCard(json);
  } catch {
    return undefined;
  }
}

/** Folds the recorded events of a task. Events of the log take precedence over the frames of one stream. */
export function foldRecordedTask(taskId: string, journal: LineJournal): Task | undefined {
  const lines = journal.listTaskLines(taskId).flatMap(({ text }): TrafficLine[] => {
    const decoded = decodeTrafficLine(text);
    return decoded.type === "traffic" ? [decoded.line] : [];
  });
  const logged = lines.filter((line) => line.kind === "event").toSorted((a, b) => a.log_seq - b.log_seq);
  const frames = lines
    .filter((line) => line.kind === "frame")
    .filter(({ task_id = taskId }) => task_id === taskId);
  let task: Task | undefined;
  for (const { event } of logged.length > 0 ? logged : frames) {
    if (!isObject(event)) continue;
    const folded = foldLeniently(task, event as unknown as StreamResponse);
    task = folded ?? task;
  }
  return task;
}

/** A stream may repeat events after a reconnection, which the fold refuses. */
function foldLeniently(task: Task | undefined, event: StreamResponse): Task | undefined {
  if ("task" in event) return structuredClone(event.task);
  if (!task || "message" in event) return task;
  const folded = fold(task, event);
  return isEventRefusal(folded) ? task : folded;
}
