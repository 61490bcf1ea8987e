import type { RecordedSample, Recording } from "../../cards/index.ts";
import { renderJson } from "../text-writer.ts";

/**
 * Renders the problems whose message cards `--faults` changed, one JSON object per line, in the format of the data set
 * Who&When. `mistake_agent` and `mistake_step` are the role and the position in `history` of the first faulty message
 * card. Unlike annotations of people, they are exact. `faults` also lists delays and the failures of calls that the role
 * repeated.
 */
export function renderFaultAttribution({ samples }: Recording): string {
  return samples.flatMap((sample) => renderSample(sample) ?? []).join("");
}

function renderSample({ id, cards, calls, score }: RecordedSample): string | undefined {
  const faults = calls
    .flatMap(({ line, role, turn, cardId }) => {
      const step = cards.findIndex(({ metadata }) => metadata.card_id === cardId);
      return (line.injected_faults ?? []).map((fault) => ({
        agent: role,
        step: step < 0 ? undefined : step,
        turn,
        fault,
        ...(line.wait_ms !== undefined && { is_repeated: true }),
      }));
    })
    .toSorted((a, b) => (a.step ?? cards.length) - (b.step ?? cards.length));
  // A delay, and a call that the role repeated, change no card.
  const first = faults.find(({ fault, is_repeated }) => fault !== "slow" && !is_repeated);
  if (!first) return undefined;
  const problem = {
    question_ID: id,
    question: cards[0]?.content,
    ground_truth: score?.gold,
    final_answer: score?.predicted,
    is_correct: score?.correct,
    history: cards.map(({ sender, recipient, message_type, content }) => ({
      role: sender,
      name: sender,
      to: recipient,
      type: message_type,
      content,
    })),
    mistake_agent: first.agent,
    mistake_step: first.step,
    mistake_reason: first.fault,
    faults,
  };
  return `${renderJson(problem)}\n`;
}
