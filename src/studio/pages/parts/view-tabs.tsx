import type { VNode } from "preact";
import { useRef } from "preact/hooks";

interface ViewTabsProps<Name extends string> {
  readonly label: string;
  /** Id of the element that shows the selected view. */
  readonly controls: string;
  readonly tabs: readonly (readonly [name: Name, label: string])[];
  readonly selected: Name;
  readonly onSelect: (name: Name) => void;
}

/** Tabs above a view. The arrow keys move between the tabs. */
export function ViewTabs<Name extends string>({
  label,
  controls,
  tabs,
  selected,
  onSelect,
}: ViewTabsProps<Name>): VNode {
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
    <div class="view-tabs" ref={list} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(([name, title]) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === selected}
          aria-controls={controls}
          tabIndex={name === selected ? 0 : -1}
          onClick={() => onSelect(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
