import type { VNode } from "preact";
import type { ReaderPosition, TrafficTask } from "../../../observe/trace/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { pluralize } from "../cards/text-format.ts";

/** Tones and words of the badges. The words differ from those of task states. */
const STATE_BADGES: Readonly<Record<ReaderPosition["state"], readonly [tone: string, word: string]>> = {
  open: ["busy", "reading"],
  completed: ["idle", "closed"],
  cut: ["warn", "cut"],
  stalled: ["warn", "stalled"],
  canceled: ["idle", "left"],
  failed: ["bad", "broken"],
};

/** Who read the events of the task, and how far each reader came. */
export function ReadersView({
  task,
}: {
  readonly task: TrafficTask;
  readonly version: number;
}): VNode | null {
  const readers = task.readers;
  const last = Math.max(task.loggedNumbers.highest, ...readers.map(({ lastLogSeq = 0 }) => lastLogSeq));
  if (readers.length === 0) return null;
  return (
    <section class="readers" aria-label="Readers" tabIndex={0}>
      <h2>Readers</h2>
      <ul>
        {readers.map((reader, index) => (
          <li key={reader.call}>
            <AgentText text={formatReader(reader, index)} />
            <span class="soft">{describePosition(reader, last)}</span>
            <span class="badge" data-tone={STATE_BADGES[reader.state][0]}>
              {STATE_BADGES[reader.state][1]}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Names a reader by its agent or client. Readers without a name have a number. */
function formatReader({ from, vantage }: ReaderPosition, index: number): string {
  if (from !== undefined) return from;
  return vantage === "unknown" ? `reader ${index + 1}` : `reader ${index + 1}, seen by the ${vantage}`;
}

/** States where a reader is, or where and why it stopped. A stream that ends as intended ends with a turn. */
function describePosition({ lastLogSeq, frames, state }: ReaderPosition, last: number): string {
  if (lastLogSeq === undefined) return pluralize(frames, "frame");
  if (state === "completed")
    return lastLogSeq === last
      ? `all ${pluralize(last, "event")}`
      : `up to event ${lastLogSeq}, the end of its turn`;
  return `${STOP_WORDS[state]} event ${lastLogSeq} of ${last}`;
}

const STOP_WORDS: Readonly<Record<Exclude<ReaderPosition["state"], "completed">, string>> = {
  open: "at",
  cut: "cut after",
  stalled: "stalled after",
  canceled: "left after",
  failed: "failed after",
};
