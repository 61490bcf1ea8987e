import type { VNode } from "preact";
import type { ReaderPosition, TrafficTask } from "../../trace/index.ts";
import { AgentText } from "../cards/agent-text.tsx";

const STATE_TONES: Readonly<Record<ReaderPosition["state"], string>> = {
  open: "busy",
  completed: "good",
  cut: "warn",
  stalled: "warn",
  canceled: "idle",
  failed: "bad",
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
    <section class="readers" aria-label="Readers">
      <h2>Readers</h2>
      <ul>
        {readers.map((reader) => (
          <li key={reader.call}>
            <AgentText text={formatReader(reader)} />
            <progress
              max={last || 1}
              value={reader.lastLogSeq ?? 0}
              aria-label={`Events that ${formatReader(reader)} received`}
            />
            <span class="soft">
              {reader.lastLogSeq === undefined
                ? `${reader.frames} frames`
                : `event ${reader.lastLogSeq} of ${last}`}
            </span>
            <span class="badge" data-tone={STATE_TONES[reader.state]}>
              {reader.state}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Names a reader by its agent or client. A record without names has only the id of the writer. */
function formatReader({ from, vantage, writer }: ReaderPosition): string {
  if (from !== undefined) return from;
  return vantage === "unknown" ? `seen by ${writer}` : `reader, seen by the ${vantage}`;
}
