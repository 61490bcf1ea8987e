import {
  type AnswerScorer,
  collectRecordedSamples,
  CONTROLLER,
  type ErrorCard,
  type RecordedSample,
  type RecordLine,
  type Recording,
  type ResultCard,
} from "../../index.ts";
import { scoreReply } from "./score-reply.ts";

/**
 * Scores the recorded replies of a run with another scorer, without a model. Returns the lines of a new run,
 * whose ID ends with the name of the scorer. Problems without a recorded reply keep their score.
 */
export function rescoreRecordLines(
  lines: readonly RecordLine[],
  recording: Recording,
  scorer: AnswerScorer,
): RecordLine[] {
  const samples = new Map(collectRecordedSamples(recording).map((sample) => [sample.id, sample]));
  return lines.map((line) => {
    const run_id = `${line.run_id}-${scorer}`;
    if (line.kind === "run") return { ...line, run_id, rule: scorer };
    if (line.kind !== "score") return { ...line, run_id };
    const reply = findFinalReply(samples.get(line.sample_id));
    if (!reply || line.error !== undefined) return { ...line, run_id, rule: scorer };
    const { measures = {}, predicted: _predicted, ...rest } = line;
    const score = scoreReply(line.gold, reply, scorer);
    // The selection of paragraphs does not depend on the answer.
    const kept = Object.entries(measures).filter(([name]) => name.startsWith("paragraphs_"));
    const all = { ...score.measures, ...Object.fromEntries(kept) };
    return { ...rest, ...score, run_id, ...(Object.keys(all).length > 0 && { measures: all }) };
  });
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
