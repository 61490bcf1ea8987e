import type { RefObject, VNode } from "preact";
import { toSingleLine, type RunReport } from "../../../cards/index.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { AgentText } from "./agent-text.tsx";
import {
  getSampleName,
  type PageSample,
  type SampleSummary,
  summarizeSample,
  type CardFilter,
  OUTCOME_LABELS,
} from "./model/run-model.ts";
import { formatDuration, formatSampleId, formatTokenTotal } from "./text-format.ts";
import { EMPTY_FILTER } from "./run-view.ts";

const ROW_HEIGHT_PX = 56;

const OUTCOME_MARKS: Readonly<Record<SampleSummary["outcome"], readonly [mark: string, label: string]>> = {
  correct: ["✓", "correct"],
  wrong: ["✗", "wrong"],
  skipped: ["–", "skipped because of an error"],
  unscored: ["…", "not scored"],
  waiting: ["·", "not started"],
};

interface SampleListProps {
  readonly samples: readonly PageSample[];
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly list: RefObject<HTMLDivElement | null>;
}

/** Selectable list of the problems that match the filter. Renders only the visible rows. */
export function SampleList({ samples, selectedId, onSelect, list }: SampleListProps): VNode {
  const selectedIndex = samples.findIndex(({ id }) => id === selectedId);
  const getName = (index: number): string => samples[index]?.id ?? "";
  return (
    <VirtualList
      id="samples"
      label="Problems"
      list={list}
      count={samples.length}
      rowHeight={ROW_HEIGHT_PX}
      selectedIndex={selectedIndex < 0 ? undefined : selectedIndex}
      getRowKey={getName}
      getRowAttributes={(index) => {
        const sample = samples[index];
        return { class: `virtual-row sample ${sample ? summarizeSample(sample).outcome : ""}` };
      }}
      onSelect={(index) => onSelect(getName(index))}
      renderRow={(index) => <SampleRow sample={samples[index]} />}
    />
  );
}

function SampleRow({ sample }: { readonly sample: PageSample | undefined }): VNode {
  if (!sample) return <></>;
  const summary = summarizeSample(sample);
  const [mark, label] = OUTCOME_MARKS[summary.outcome];
  const { tokens } = summary;
  const notes = [
    ...(summary.errorCount > 0 ? ["error"] : []),
    ...(summary.isPartial ? ["partial"] : []),
    ...(tokens.isReported && tokens.total > 0 ? [`${formatTokenTotal(tokens)} tok`] : []),
    ...(summary.durationMs > 0 ? [formatDuration(summary.durationMs)] : []),
  ];
  return (
    <>
      <span class="mark" role="img" aria-label={label} title={label}>
        {mark}
      </span>
      <AgentText class="id" text={formatSampleId(getSampleName(sample))} />
      <span class="notes">{notes.join(" · ")}</span>
      <AgentText class="question" text={toSingleLine(summary.question.slice(0, 160))} />
    </>
  );
}

interface FilterFormProps {
  readonly statistics: RunReport;
  readonly filter: CardFilter;
  readonly onChange: (filter: CardFilter) => void;
  /** Called when the user leaves the search field for the list of problems. */
  readonly onLeave: () => void;
  readonly searchInput: RefObject<HTMLInputElement | null>;
}

/** Filter form above the list of problems. */
export function FilterForm({ statistics, filter, onChange, onLeave, searchInput }: FilterFormProps): VNode {
  const recorded = Object.keys(statistics.samples.outcomes).filter(
    (name) => !Object.hasOwn(OUTCOME_LABELS, name),
  );
  const choices = [...Object.entries(OUTCOME_LABELS), ...recorded.map((name) => [name, name])];
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" && !(event.key === "ArrowDown" && event.target === searchInput.current))
      return;
    event.preventDefault();
    if (event.key === "Escape") onChange(EMPTY_FILTER);
    onLeave();
  };
  return (
    <form
      role="search"
      class="card-filters"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={onKeyDown}
    >
      <input
        ref={searchInput}
        type="search"
        id="search"
        placeholder="Filter by id or text"
        aria-label="Filter by id or text"
        autocomplete="off"
        spellcheck={false}
        value={filter.text}
        onInput={({ currentTarget }) => onChange({ ...filter, text: currentTarget.value })}
      />
      <div class="selects">
        <select
          name="outcome"
          aria-label="Filter by outcome"
          value={filter.outcome}
          onInput={({ currentTarget }) => onChange({ ...filter, outcome: currentTarget.value })}
        >
          {choices.map(([value, label]) => (
            <option key={value} value={value}>
              {toSingleLine(label ?? "")}
            </option>
          ))}
        </select>
      </div>
    </form>
  );
}
