import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useHotkeys } from "../app/hotkeys.ts";
import { usePageState } from "../app/page-state.ts";
import { toSingleLine } from "../../../cards/index.ts";
import { formatTaskState, TASK_STATES } from "../../../protocol/index.ts";
import type { TaskFilter } from "./task-filter.ts";

/** Time in milliseconds without a key press, after which a text filter applies. */
const TYPING_PAUSE_MS = 300;

interface TaskFilterFormProps {
  readonly filter: TaskFilter;
  readonly isTextSearchable: boolean;
  readonly onChange: (change: Partial<TaskFilter>) => void;
}

/** The filters of the task list. The URL contains their values. */
export function TaskFilterForm({ filter, isTextSearchable, onChange }: TaskFilterFormProps): VNode {
  const { agents } = usePageState();
  const firstField = useRef<HTMLSelectElement>(null);
  useHotkeys([{ keys: "/", label: "Go to the filters", run: () => firstField.current?.focus() }]);
  return (
    <form
      class="task-filters"
      role="search"
      aria-label="Filter the tasks"
      onSubmit={(event) => event.preventDefault()}
    >
      <label>
        State
        <select
          ref={firstField}
          value={filter.state ?? ""}
          onChange={({ currentTarget }) => onChange({ state: currentTarget.value })}
        >
          <option value="">any</option>
          {TASK_STATES.map((state) => (
            <option key={state} value={state}>
              {formatTaskState(state)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Agent
        <select
          value={filter.agent ?? ""}
          onChange={({ currentTarget }) => onChange({ agent: currentTarget.value })}
        >
          <option value="">any</option>
          {agents.value.map(({ id, name }) => (
            <option key={id} value={id}>
              {toSingleLine(name)}
            </option>
          ))}
        </select>
      </label>
      <TypedFilter
        label="Context"
        value={filter.context ?? ""}
        onChange={(context) => onChange({ context })}
      />
      {isTextSearchable && (
        <TypedFilter label="Text" value={filter.text ?? ""} onChange={(text) => onChange({ text })} />
      )}
      <label>
        From
        <input
          type="datetime-local"
          value={filter.from ?? ""}
          onChange={({ currentTarget }) => onChange({ from: currentTarget.value })}
        />
      </label>
      <label>
        To
        <input
          type="datetime-local"
          value={filter.to ?? ""}
          onChange={({ currentTarget }) => onChange({ to: currentTarget.value })}
        />
      </label>
    </form>
  );
}

function TypedFilter(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}): VNode {
  const { label, value, onChange } = props;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => onChange(text.trim()), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label>
      {label}
      <input type="search" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
    </label>
  );
}
