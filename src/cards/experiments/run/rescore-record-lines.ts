import {
  type AnswerScorer,
  CONTROLLER,
  type ErrorCard,
  type RecordedSample,
  type Recording,
  type ResultCard,
} from "../../index.ts";
import type { TrafficLine } from "../../../observe/trace/index.ts";
import { toFileName } from "./run-description.ts";
import { type CustomScorer, scoreReply } from "./score-reply.ts";

/**
 * Scores the recorded replies of a run with another scorer, without a model. Returns the lines of a new run,
 * whose ID ends with the name of the scorer. Problems without a recorded reply keep their score.
 */
export async function rescoreRecordLines(
  lines: readonly TrafficLine[],
  recording: Recording,
  scorer: AnswerScorer | CustomScorer,
  signal: AbortSignal = new AbortController().signal,
): Promise<TrafficLine[]> {
  const samples = new Map(recording.samples.map((sample) => [sample.id, sample]));
  const rule = typeof scorer === "object" ? scorer.name : scorer;
  const runId = `${recording.runId}-${toFileName(rule)}`;
  const rescore = async (earlier: TrafficLine): Promise<TrafficLine> => {
    const line = renameRun(earlier, `${recording.runId}`, runId);
    if (line.kind === "run") return { ...line, rule };
    if (line.kind !== "score") return line;
    const reply = findFinalReply(samples.get(line.sample_id));
    if (!reply || line.error !== undefined) return { ...line, rule };
    const question = samples.get(line.sample_id)?.cards[0]?.content ?? "";
    const { measures: _measures, predicted: _predicted, ...rest } = line;
    const score = await scoreReply(scorer, { gold: line.gold, question, signal }, reply);
    return { ...rest, ...score };
  };
  const rescored: TrafficLine[] = [];
  for (const line of lines) rescored.push(await rescore(line));
  return rescored;
}

/** Replaces the ID of the run in a line, also in the metadata of its messages and message cards. */
function renameRun(line: TrafficLine, from: string, to: string): TrafficLine {
  const text = JSON.stringify(line);
  // In the text of a message, a backslash is before each quotation mark.
  const renamed = text.replaceAll(`run_id":${JSON.stringify(from)}`, `run_id":${JSON.stringify(to)}`);
  return renamed === text ? line : (JSON.parse(renamed) as TrafficLine);
}

/** Returns the reply to the problem that the controller sent. */
function findFinalReply(sample: RecordedSample | undefined): ResultCard | ErrorCard | undefined {
  const task = sample?.cards.find(
    ({ sender, message_type }) => sender === CONTROLLER && message_type === "task",
  );
  const id = task?.metadata.card_id;
  return sample?.cards.findLast(
    (card): card is ResultCard | ErrorCard =>
      id !== undefined &&
      card.metadata.in_reply_to === id &&
      (card.message_type === "result" || card.message_type === "error"),
  );
}
