import { getSharedRedactor } from "../../observe/logging/index.ts";
import type { LogEvent } from "../../protocol/index.ts";
import type { TaskLogAccess } from "../../server/index.ts";
import type { LineJournal } from "./line-journal.ts";

/**
 * Yields the lines of a task of the own server: its event log as `event` lines, and then the other observed lines of the
 * task. A store of the user can keep no times. Then only observed events and events with a status have a time.
 */
export async function* readLogLines(
  tasks: TaskLogAccess,
  {
    agentId,
    taskId,
    agentName,
  }: { readonly agentId: string; readonly taskId: string; readonly agentName: string },
  journal: LineJournal,
): AsyncGenerator<string, void, undefined> {
  const observed = journal.listTaskLines(taskId);
  // A record shortens long events, so that only their times count.
  const observedTimes = new Map<number, string>();
  for (const { kind, logSeq, at } of observed)
    if (kind === "event" && logSeq !== undefined) observedTimes.set(logSeq, at);
  let at = new Date(0).toISOString();
  let seq = 0;
  for (;;) {
    const events = await tasks.readEvents(agentId, taskId, seq);
    const last = events.at(-1);
    if (!last) break;
    for (const event of events) {
      const time = observedTimes.get(event.seq) ?? findCommitTime(event);
      at = time ?? at;
      yield formatEventLine(event, { agent: agentName, taskId, at, isTimeKnown: time !== undefined });
    }
    seq = last.seq;
  }
  for (const { kind, logSeq, text } of observed)
    if (kind !== "event" || logSeq === undefined || logSeq > seq) yield text;
}

/** Returns the time of the commit, or the time of the status. Artifacts, the most frequent events, are not parsed. */
function findCommitTime(logged: LogEvent): string | undefined {
  // A store of the user can return anything, such as a text for a `bigint` of PostgreSQL.
  const committedAt = new Date(logged.committedAt ?? Number.NaN);
  if (!Number.isNaN(committedAt.getTime())) return committedAt.toISOString();
  if (logged.jsonText.startsWith('{"artifactUpdate"')) return undefined;
  const { event } = logged;
  if ("task" in event) return event.task.status.timestamp;
  return "statusUpdate" in event ? event.statusUpdate.status.timestamp : undefined;
}

/**
 * Returns the `event` line for an event in a log. The log is the writer of the line, so that a line has the same identity
 * whether the console has read the log or has observed the commit. Secrets are redacted, as in other lines.
 */
export function formatEventLine(
  { seq, jsonText }: LogEvent,
  {
    agent,
    taskId,
    at,
    isTimeKnown,
  }: {
    readonly agent: string;
    readonly taskId: string;
    readonly at: string;
    readonly isTimeKnown: boolean;
  },
): string {
  const writer = `log-${taskId}`;
  const members = { v: 1, kind: "event", writer, seq, at, mono_ms: Date.parse(at), agent };
  const event = getSharedRedactor().redactJson(jsonText);
  const ids = { task_id: taskId, log_seq: seq, ...(isTimeKnown ? {} : { time_known: false }) };
  return `${JSON.stringify({ ...members, ...ids }).slice(0, -1)},"event":${event}}`;
}
