import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatTaskState } from "../../../protocol/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatAge } from "../parts/time-format.ts";
import { filterPaletteCommands, type PaletteCommand } from "./palette-commands.ts";
import { formatKeys, listActiveHotkeys } from "./hotkeys.ts";
import { type PageState, usePageState } from "./page-state.ts";

const isPaletteOpen = signal(false);
/** Number of the newest tasks that the palette offers. */
const OFFERED_TASKS = 100;

export function openCommandPalette(): void {
  isPaletteOpen.value = true;
}

/** A dialog that finds the commands of the screen, agents, and the newest tasks by their names. */
export function CommandPalette(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isPaletteOpen.value;
  // Before the next key: an effect after the paint would leave the first letters to the commands of the screen.
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  const close = (): void => void (isPaletteOpen.value = false);
  return (
    <dialog ref={dialog} class="palette" aria-label="Commands" onClose={close}>
      {isOpen && <PaletteSearch onClose={close} />}
    </dialog>
  );
}

function PaletteSearch({ onClose }: { readonly onClose: () => void }): VNode {
  const state = usePageState();
  const [query, setQuery] = useState("");
  const [selected, setSelected] = useState(0);
  const [commands, setCommands] = useState(() => [...listScreenCommands(), ...listAgentCommands(state)]);
  useEffect(() => {
    const addTasks = (tasks: readonly PaletteCommand[]): void => setCommands([...commands, ...tasks]);
    // The other commands work without the tasks.
    listTaskCommands(state).then(addTasks, () => undefined);
  }, [state]);
  const found = filterPaletteCommands(commands, query);
  const active = found[Math.min(selected, found.length - 1)];
  const list = useRef<HTMLUListElement>(null);
  useEffect(
    () => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }),
    [active],
  );
  const run = (command: PaletteCommand | undefined): void => {
    if (command === undefined) return;
    onClose();
    // The dialog returns the focus when it closes. Afterwards, the command can move the focus.
    setTimeout(command.run);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
    if (step !== undefined) setSelected(Math.max(0, Math.min(found.length - 1, selected + step)));
    else if (event.key === "Enter" && !event.isComposing) run(active);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        role="combobox"
        aria-label="Command, agent, or task"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={active === undefined ? undefined : "palette-active"}
        placeholder="Command, agent, or task"
        autocomplete="off"
        spellcheck={false}
        value={query}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value);
          setSelected(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul ref={list} id="palette-list" role="listbox" aria-label="Commands">
        {found.map((command) => (
          // The keyboard handler of the field covers the options.
          <li
            key={command.key}
            id={command === active ? "palette-active" : undefined}
            role="option"
            aria-selected={command === active}
            onClick={() => run(command)}
          >
            <AgentText text={command.label} />
            {command.detail !== undefined && <AgentText class="soft" text={command.detail} />}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="soft">Nothing has this name.</p>}
    </>
  );
}

function listScreenCommands(): PaletteCommand[] {
  const commands = new Map<string, PaletteCommand>();
  for (const { keys, label, run } of listActiveHotkeys())
    if (!commands.has(label) && run !== openCommandPalette)
      commands.set(label, {
        key: `keys ${keys}`,
        label,
        detail: formatKeys(keys).join(" "),
        run: () => run(),
      });
  return [...commands.values()];
}

function listAgentCommands({ agents, screens, source, navigate }: PageState): PaletteCommand[] {
  return agents.value.flatMap(({ id, name, isRecorded }) => [
    ...(screens.chat === undefined || isRecorded || !source.session.canAct
      ? []
      : [{ key: `chat ${id}`, label: `Chat with ${name}`, run: () => navigate("chat", [id]) }]),
    { key: `agent ${id}`, label: `Card of ${name}`, run: () => navigate("agents", [id]) },
  ]);
}

async function listTaskCommands({ source, findAgent, navigate }: PageState): Promise<PaletteCommand[]> {
  const { tasks } = await source.listTasks({ pageSize: OFFERED_TASKS });
  return tasks.map(({ agent, id, preview, state, updatedAt }) => ({
    key: `task ${agent} ${id}`,
    label: `Task of ${findAgent(agent)?.name ?? agent}: ${preview.slice(0, 80)}`,
    detail: `${formatTaskState(state)} · ${formatAge(updatedAt, Date.now())}`,
    run: () => navigate("task", [agent, id]),
  }));
}
