import type { VNode } from "preact";
import { useRef } from "preact/hooks";

interface ViewTabsProps<Name extends string> {
  readonly tabs: readonly (readonly [name: Name, label: string])[];
  readonly selected: Name;
  readonly onSelect: (name: Name) => void;
}

/** Tabs above a view. The arrow keys move between the tabs. The view has the id `picture`. */
export function ViewTabs<Name extends string>({ tabs, selected, onSelect }: ViewTabsProps<Name>): VNode {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const index = tabs.findIndex(([name]) => name === selected) + step;
    const next = tabs.at(index % tabs.length);
    if (!next) return;
    onSelect(next[0]);
    list.current?.querySelector<HTMLElement>(`#tab-${next[0]}`)?.focus();
  };
  return (
    <div id="tabs" class="view-tabs" ref={list} role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
      {tabs.map(([name, label]) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === selected}
          aria-controls="picture"
          tabIndex={name === selected ? 0 : -1}
          onClick={() => onSelect(name)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
