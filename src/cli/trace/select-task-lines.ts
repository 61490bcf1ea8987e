import type { JsonObject } from "../../protocol/index.ts";
import { listTaskFamily } from "../../observe/trace/index.ts";
import type { ReadTrafficLine } from "../../observe/trace/recording/index.ts";
import { requireTask, type LoadedTrafficRecord } from "./load-traffic-record.ts";

/** A task and the tasks that its agent started: their keys, and the lines of the record that belong to them. */
export interface SelectedTaskLines {
  /** Keys of the tasks, or `undefined` for all tasks. */
  readonly taskKeys: ReadonlySet<string> | undefined;
  readonly lines: readonly ReadTrafficLine[];
}

/**
 * Selects the lines of a task and of the tasks that its agent started, and the card protocol's lines of their samples.
 * The lines of writers and of agent cards belong to all tasks. Without an id, all lines are selected.
 */
export function selectTaskLines(
  { lines, model }: LoadedTrafficRecord,
  taskId: string | undefined,
): SelectedTaskLines {
  if (taskId === undefined) return { taskKeys: undefined, lines };
  const family = listTaskFamily(model, requireTask(model, taskId));
  const ofFamily = new Set(family.flatMap(({ entries }) => entries.map(({ line }) => line)));
  const samples = new Set(
    family.flatMap(({ annotations }) =>
      annotations.flatMap(({ line }) => [getSampleKey(line), getSampleKey({ ...line, sample_id: null })]),
    ),
  );
  return {
    taskKeys: new Set(family.map(({ key }) => key)),
    lines: lines.filter((decoded) => {
      if (decoded.type === "other") return samples.has(getSampleKey(decoded.json));
      if (decoded.type !== "traffic") return false;
      const { kind } = decoded.line;
      return kind === "writer" || kind === "agent" || ofFamily.has(decoded.line);
    }),
  };
}

/** Returns what the lines of one sample have in common. The line that describes a run has no sample. */
function getSampleKey({ run_id = null, sample_id = null }: JsonObject): string {
  return JSON.stringify([run_id, sample_id]);
}
