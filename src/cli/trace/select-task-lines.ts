import { findLineCards } from "../../cards/index.ts";
import { listTaskFamily, type RunIds } from "../../observe/trace/index.ts";
import type { ReadTrafficLine } from "../../observe/trace/recording/index.ts";
import { requireTask, type LoadedTrafficRecord } from "./load-traffic-record.ts";

/** A task and the tasks that its agent started: their keys, and the lines of the record that belong to them. */
export interface SelectedTaskLines {
  /** Keys of the tasks, or `undefined` for all tasks. */
  readonly taskKeys: ReadonlySet<string> | undefined;
  readonly lines: readonly ReadTrafficLine[];
}

/**
 * Selects the lines of a task and of the tasks that its agent started, and the other lines of their runs and problems.
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
    [...ofFamily]
      .flatMap(findLineCards)
      .flatMap(({ metadata: { run_id, sample_id } }) => [
        formatSampleKey({ run_id, sample_id }),
        formatSampleKey({ run_id }),
      ]),
  );
  return {
    taskKeys: new Set(family.map(({ key }) => key)),
    lines: lines.filter((decoded) => {
      if (decoded.type !== "traffic") return false;
      const { line } = decoded;
      if (line.kind === "writer" || line.kind === "agent" || ofFamily.has(line)) return true;
      return "run_id" in line && line.run_id !== undefined && samples.has(formatSampleKey(line));
    }),
  };
}

/** Returns what the lines of one sample have in common. The line that describes a run has no sample. */
function formatSampleKey({
  run_id = "",
  sample_id = "",
}: { [Id in keyof RunIds]: RunIds[Id] | undefined }): string {
  return JSON.stringify([run_id, sample_id]);
}
