import type { VNode } from "preact";
import { toSingleLine } from "../../../cards/index.ts";
import { shortenId } from "../parts/identifier.tsx";
import { formatClock } from "../parts/time-format.ts";
import { formatState, type TrafficTask } from "../../../observe/trace/index.ts";

/** Largest number of root tasks that the picker offers. */
const MAX_PICKED_TASKS = 200;

interface TaskPickerProps {
  readonly label: string;
  /** Tasks that no other task started, newest first. */
  readonly roots: readonly TrafficTask[];
  readonly task: TrafficTask | undefined;
  /** Label of the choice without a task. Default: a task must be chosen. */
  readonly noneLabel?: string;
  readonly onPick: (task: TrafficTask | undefined) => void;
}

/** Chooses one of the newest tasks. */
export function TaskPicker({ label, roots, task, noneLabel, onPick }: TaskPickerProps): VNode {
  const offered = roots.slice(0, MAX_PICKED_TASKS);
  // A link can choose a task that another task started.
  const choices = task && !offered.includes(task) ? [task, ...offered] : offered;
  return (
    <label class="task-picker">
      <span class="soft">{label}</span>
      <select
        value={task?.key ?? ""}
        onInput={({ currentTarget }) => onPick(choices.find(({ key }) => key === currentTarget.value))}
      >
        {noneLabel !== undefined && <option value="">{noneLabel}</option>}
        {choices.map(({ key, id, agent = "agent", state, startMs }) => (
          <option key={key} value={key}>
            {toSingleLine(
              `${formatClock(startMs)} ${agent} ${shortenId(id)} ${formatState(state ?? "unknown")}`,
            )}
          </option>
        ))}
      </select>
    </label>
  );
}
